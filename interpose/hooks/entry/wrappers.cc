// SPDX-License-Identifier: Apache-2.0
//
// The wrappers of the hooked functions, generated from the table in api.inc: three for each, see real_entry.h.
#include "interpose/hooks/table/call.h"
#include "interpose/hooks/table/captures.h"
#include "interpose/hooks/table/cuda_abi.h"
#include "interpose/hooks/table/current_device.h"
#include "interpose/hooks/table/operands.h"
#include "interpose/hooks/table/real_entry.h"
#include "interpose/session/early_marks.h"

namespace vramtrack {
namespace {

using namespace cuda;  // NOLINT: the table's parameters are written as CUDA has them

template <int kWay>
inline __attribute__((always_inline)) void* Real(Entry entry, const void* caller) {
  if constexpr (kWay == kBySymbol) return Providers::Real(entry, caller);
  return looked_up[kWay - 1][static_cast<size_t>(entry)].load(std::memory_order_relaxed);
}

constexpr bool Succeeded(uint32_t kind, Error error) {
  return error == kSuccess || (kind == schema::COMMUNICATOR && error == kNcclInProgress);
}

}  // namespace

#define VRAMTRACK_INLINE inline __attribute__((always_inline))

// A row's body, and its three wrappers.
#define VRAMTRACK_WRAP_AS(visible, entry, parameters, arguments)                                                       \
  template <int kWay>                                                                                                  \
  VRAMTRACK_INLINE Error Wrap_##entry parameters;                                                                      \
  extern "C" __attribute__((visibility(visible))) Error entry parameters { return Wrap_##entry<kBySymbol> arguments; } \
  static Error LookedUp1_##entry parameters { return Wrap_##entry<1> arguments; }                                      \
  static Error LookedUp2_##entry parameters { return Wrap_##entry<2> arguments; }                                      \
  template <int kWay>                                                                                                  \
  VRAMTRACK_INLINE Error Wrap_##entry parameters
#define VRAMTRACK_WRAP(...) VRAMTRACK_WRAP_AS("default", __VA_ARGS__)

#define VRAMTRACK_REAL(entry, parameters)                                       \
  using Function = Error(*) parameters;                                         \
  void* const real = Real<kWay>(Entry::k_##entry, __builtin_return_address(0)); \
  if (__builtin_expect(real == nullptr, 0)) return kInitializationError

// Where nothing is recorded, a call costs next to nothing.
#define VRAMTRACK_REAL_OR_PASS(entry, parameters, arguments) \
  VRAMTRACK_REAL(entry, parameters);                         \
  if (Session::PassesOn()) return reinterpret_cast<Function>(real) arguments

#define VRAMTRACK_CALL_REAL(arguments)                            \
  call.BeforeReal();                                              \
  const Error error = reinterpret_cast<Function>(real) arguments; \
  call.AfterReal()

// Success gives the address, failure the code: never is anything read through a pointer that the real call has refused.
#define VRAMTRACK_ALLOCATES_ON(entry, kind, parameters, arguments, address, asked, given, stream, on) \
  VRAMTRACK_WRAP(entry, parameters, arguments) {                                                      \
    VRAMTRACK_REAL_OR_PASS(entry, parameters, arguments);                                             \
    Call call(FamilyOf(schema::kind));                                                                \
    if (call.active()) call.CaptureStack();                                                           \
    VRAMTRACK_CALL_REAL(arguments);                                                                   \
    if (!call.active()) return error;                                                                 \
    if (Succeeded(schema::kind, error)) {                                                             \
      if (const uint64_t at = address) call.Allocated(schema::kind, at, given, stream, on);           \
    } else {                                                                                          \
      call.Failed(schema::kind, error, asked, on);                                                    \
    }                                                                                                 \
    return error;                                                                                     \
  }
#define VRAMTRACK_ALLOCATES(...) VRAMTRACK_ALLOCATES_ON(__VA_ARGS__, kCurrentDevice)

#define VRAMTRACK_ALLOCATES_EACH(entry, kind, parameters, arguments, addresses, count)                               \
  VRAMTRACK_WRAP(entry, parameters, arguments) {                                                                     \
    VRAMTRACK_REAL_OR_PASS(entry, parameters, arguments);                                                            \
    Call call(FamilyOf(schema::kind));                                                                               \
    if (call.active()) call.CaptureStack();                                                                          \
    VRAMTRACK_CALL_REAL(arguments);                                                                                  \
    if (!call.active()) return error;                                                                                \
    if (!Succeeded(schema::kind, error)) {                                                                           \
      call.Failed(schema::kind, error, 0);                                                                           \
      return error;                                                                                                  \
    }                                                                                                                \
    for (int i = 0; addresses != nullptr && i < count; ++i) call.Allocated(schema::kind, Value(addresses[i]), 0, 0); \
    return error;                                                                                                    \
  }

#define VRAMTRACK_RETAINS(entry, kind, parameters, arguments, address) \
  VRAMTRACK_WRAP(entry, parameters, arguments) {                       \
    VRAMTRACK_REAL_OR_PASS(entry, parameters, arguments);              \
    Call call(FamilyOf(schema::kind));                                 \
    if (call.active()) call.CaptureStack();                            \
    VRAMTRACK_CALL_REAL(arguments);                                    \
    if (!call.active()) return error;                                  \
    if (error == kSuccess) {                                           \
      call.Retained(schema::kind, address);                            \
    } else {                                                           \
      call.Failed(schema::kind, error, 0);                             \
    }                                                                  \
    return error;                                                      \
  }

#define VRAMTRACK_ENDS(entry, kind, parameters, arguments, ends) \
  VRAMTRACK_WRAP(entry, parameters, arguments) {                 \
    VRAMTRACK_REAL_OR_PASS(entry, parameters, arguments);        \
    Call call(FamilyOf(schema::kind));                           \
    if (call.active()) call.ends;                                \
    VRAMTRACK_CALL_REAL(arguments);                              \
    if (!call.active()) return error;                            \
    if (Succeeded(schema::kind, error)) {                        \
      call.Freed(schema::kind);                                  \
    } else {                                                     \
      call.FreeFailed(error);                                    \
    }                                                            \
    return error;                                                \
  }
#define VRAMTRACK_FREES(entry, kind, parameters, arguments, address, stream) \
  VRAMTRACK_ENDS(entry, kind, parameters, arguments, Freeing(schema::kind, address, stream))
#define VRAMTRACK_RELEASES(entry, kind, parameters, arguments, address) \
  VRAMTRACK_ENDS(entry, kind, parameters, arguments, Releasing(schema::kind, address))

#define VRAMTRACK_RETAINS_PRIMARY(entry, parameters, arguments, context, device) \
  VRAMTRACK_WRAP(entry, parameters, arguments) {                                 \
    VRAMTRACK_REAL(entry, parameters);                                           \
    Call call(FamilyOf(schema::CONTEXT));                                        \
    if (call.active()) call.CaptureStack();                                      \
    CountPrimaryOwners(device, 1);                                               \
    VRAMTRACK_CALL_REAL(arguments);                                              \
    if (error != kSuccess) CountPrimaryOwners(device, -1);                       \
    if (!call.active()) return error;                                            \
    if (error == kSuccess) {                                                     \
      call.PrimaryRetained(context, device);                                     \
    } else {                                                                     \
      call.Failed(schema::CONTEXT, error, 0, device);                            \
    }                                                                            \
    return error;                                                                \
  }
#define VRAMTRACK_RELEASES_PRIMARY(entry, parameters, arguments, device) \
  VRAMTRACK_WRAP(entry, parameters, arguments) {                         \
    VRAMTRACK_REAL(entry, parameters);                                   \
    Call call(FamilyOf(schema::CONTEXT));                                \
    VRAMTRACK_CALL_REAL(arguments);                                      \
    if (error == kSuccess && CountPrimaryOwners(device, -1) == 0) {      \
      if (call.active()) call.PrimaryReleased(device);                   \
    }                                                                    \
    return error;                                                        \
  }

#define VRAMTRACK_OBSERVES(entry, family, parameters, arguments, learnt) \
  VRAMTRACK_WRAP(entry, parameters, arguments) {                         \
    VRAMTRACK_REAL(entry, parameters);                                   \
    Call call(family);                                                   \
    VRAMTRACK_CALL_REAL(arguments);                                      \
    if (error == kSuccess && call.active()) learnt;                      \
    return error;                                                        \
  }

#define VRAMTRACK_NOTES_AS(visible, entry, parameters, arguments, learnt) \
  VRAMTRACK_WRAP_AS(visible, entry, parameters, arguments) {              \
    VRAMTRACK_REAL(entry, parameters);                                    \
    const Error error = reinterpret_cast<Function>(real) arguments;       \
    if (error == kSuccess) learnt;                                        \
    return error;                                                         \
  }

#define VRAMTRACK_NOTES(...) VRAMTRACK_NOTES_AS("default", __VA_ARGS__)
#define VRAMTRACK_NOTES_IF_JOINED(...) VRAMTRACK_NOTES_AS("hidden", __VA_ARGS__)

#define VRAMTRACK_LOOKS_UP(entry, parameters, arguments, name, pointer)                 \
  VRAMTRACK_WRAP(entry, parameters, arguments) {                                        \
    VRAMTRACK_REAL(entry, parameters);                                                  \
    const Error error = reinterpret_cast<Function>(real) arguments;                     \
    if (error == kSuccess && pointer != nullptr) *pointer = WrapperFor(*pointer, name); \
    return error;                                                                       \
  }

#define VRAMTRACK_FRAMEWORK_ENTRY(entry, parameters) extern "C" void entry();
#include "interpose/hooks/table/api.inc"

void* const wrappers[kEntryCount][1 + kLookedUpWays] = {
#define VRAMTRACK_ENTRY(entry, parameters)                                       \
  {reinterpret_cast<void*>(&entry), reinterpret_cast<void*>(&LookedUp1_##entry), \
   reinterpret_cast<void*>(&LookedUp2_##entry)},
#define VRAMTRACK_FRAMEWORK_ENTRY(entry, parameters) \
  {reinterpret_cast<void*>(&entry), reinterpret_cast<void*>(&entry), reinterpret_cast<void*>(&entry)},
#include "interpose/hooks/table/api.inc"
};

// A step does not begin recording: a process that never touches CUDA writes nothing.
VRAMTRACK_EXPORT void vramtrack_step(uint64_t number, double value) {
  if (Session::Running() == nullptr) return NoteEarlyStep(number, value);
  Call call(kNoFamily);
  if (call.active()) call.Step(number, value);
}

VRAMTRACK_EXPORT int vramtrack_holders(void) {
  Session* session = Session::Running();
  return session != nullptr && session->holders().Request() ? 1 : 0;
}

}  // namespace vramtrack
