// SPDX-License-Identifier: Apache-2.0
//
// Hooks the start of torch.profiler.record_function, which every optimizer step calls. The events serve to find steps.
#include "interpose/frameworks/torch/real_function.h"
#include "interpose/hooks/table/call.h"
#include "interpose/session/early_marks.h"

#define RECORD_FUNCTION _ZN2at14RecordFunctionC1ENS_11RecordScopeE

namespace vramtrack {
namespace {

constexpr uint8_t kUserScope = 7;  // at::RecordScope::USER_SCOPE

torch::RealFunction<VRAMTRACK_ENTRY_OF(RECORD_FUNCTION)> real_record_function;

// The name comes later, and only where a profiler listens: the stack tells more.
__attribute__((noinline)) void MarkBegin() {
  if (Session::Running() == nullptr) return NoteEarlyMark(schema::MARK_RECORD_FUNCTION, nullptr, nullptr, 0);
  Call call(kGraph);
  if (call.active() && call.session()->python().Innermost(call.lane()) != 0) {
    call.Mark(schema::MARK_RECORD_FUNCTION, 0, 0);
  }
}

}  // namespace
}  // namespace vramtrack

// at::RecordFunction::RecordFunction(at::RecordScope)
extern "C" __attribute__((visibility("default"))) void RECORD_FUNCTION(void* record, uint8_t scope) {
  using namespace vramtrack;  // NOLINT
  if (scope == kUserScope) MarkBegin();
  void* const real = real_record_function.For(__builtin_return_address(0));
  if (real != nullptr) reinterpret_cast<void (*)(void*, uint8_t)>(real)(record, scope);
}
