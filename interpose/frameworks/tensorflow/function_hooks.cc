// SPDX-License-Identifier: Apache-2.0
//
// Records each call of a tf.function as a range, from which steps are found: Keras calls one for each batch, and so do
// most loops. Its operations run in other threads, which have no Python frames.
#include <atomic>
#include <cstring>

#include "interpose/base/spin_lock.h"
#include "interpose/hooks/table/marks.h"
#include "interpose/hooks/table/real_entry.h"
#include "interpose/loader/loaded_object.h"
#include "interpose/session/mark_names.h"

namespace vramtrack {
namespace {

// TensorFlow calls the graph of a function `step` "__inference_step_42".
constexpr char kPrefix[] = "__inference_";

__attribute__((noinline)) void BeginFunction(const char* name) {
  char text[PlainName::kMaxBytes];
  strncpy(text, name + sizeof kPrefix - 1, sizeof text - 1);
  text[sizeof text - 1] = '\0';
  // The number tells apart versions of the function for other shapes.
  char* const number = strrchr(text, '_');
  if (number != nullptr && number != text) *number = '\0';
  RecordMark(schema::MARK_RANGE_PUSH, nullptr, text);
}

using NameFunction = const char* (*)(void* operation, void* status);

// A TensorFlow of the process, by its TFE_Execute.
struct Library {
  std::atomic<void*> execute;
  NameFunction name_of;
};
Library libraries[4];
SpinLock learning;

// Returns TFE_OpGetName of the library with this TFE_Execute; null if it cannot be known.
NameFunction NameFunctionOf(void* execute) {
  for (Library& library : libraries) {
    void* const known = library.execute.load(std::memory_order_acquire);
    if (known == execute) return library.name_of;
    if (known != nullptr) continue;
    LoadedObject object;
    if (!FindLoadedObject(execute, &object)) return nullptr;
    const SpinLockHolder holder(&learning);
    if (!holder.held()) return nullptr;
    if (library.execute.load(std::memory_order_relaxed) != nullptr) continue;
    library.name_of = reinterpret_cast<NameFunction>(object.Find("TFE_OpGetName"));
    library.execute.store(execute, std::memory_order_release);
    return library.name_of;
  }
  return nullptr;
}

}  // namespace
}  // namespace vramtrack

extern "C" __attribute__((visibility("default"))) void TFE_Execute(void* operation, void** results, int* count,
                                                                   void* status) {
  using namespace vramtrack;  // NOLINT
  void* const real = Providers::Real(Entry::k_TFE_Execute, __builtin_return_address(0));
  if (real == nullptr) return;
  // It does not use its status.
  const NameFunction name_of = NameFunctionOf(real);
  const char* const name = name_of == nullptr ? "" : name_of(operation, status);
  const bool function = strncmp(name, kPrefix, sizeof kPrefix - 1) == 0;
  if (function) BeginFunction(name);
  reinterpret_cast<void (*)(void*, void**, int*, void*)>(real)(operation, results, count, status);
  if (function) RecordMark(schema::MARK_RANGE_POP, nullptr, nullptr);
}
