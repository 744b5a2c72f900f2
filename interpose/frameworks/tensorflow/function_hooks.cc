// SPDX-License-Identifier: Apache-2.0
//
// Marks each call of a tf.function, from which steps are found: Keras calls one for each batch, and so do most loops.
#include <atomic>
#include <cstring>

#include "interpose/base/spin_lock.h"
#include "interpose/hooks/table/call.h"
#include "interpose/hooks/table/real_entry.h"
#include "interpose/loader/loaded_object.h"
#include "interpose/session/early_marks.h"
#include "interpose/session/mark_names.h"

namespace vramtrack {
namespace {

// TensorFlow calls the graph of a function `step` "__inference_step_42".
constexpr char kPrefix[] = "__inference_";

__attribute__((noinline)) void MarkFunction(const char* name) {
  char text[PlainName::kMaxBytes];
  strncpy(text, name + sizeof kPrefix - 1, sizeof text - 1);
  text[sizeof text - 1] = '\0';
  // The number tells apart versions of the function for other shapes.
  char* const number = strrchr(text, '_');
  if (number != nullptr && number != text) *number = '\0';
  if (Session::Running() == nullptr) return NoteEarlyMark(schema::MARK_RECORD_FUNCTION, nullptr, text, 0);
  Call call(kGraph);
  if (!call.active()) return;
  const MarkName mark = NameOf(text, nullptr, call.session(), call.lane());
  call.Mark(schema::MARK_RECORD_FUNCTION, mark.id, mark.number);
}

using NameFunction = const char* (*)(void* operation, void* status);

// A TensorFlow of the process, by its TFE_Execute.
struct Library {
  std::atomic<void*> execute;
  NameFunction name_of;
};
Library libraries[4];
SpinLock learning;

// Returns the name of an operation, "" if it cannot be known. TFE_OpGetName does not use its status.
const char* NameOf(void* operation, void* status, void* execute) {
  for (Library& library : libraries) {
    void* const known = library.execute.load(std::memory_order_acquire);
    if (known == execute) return library.name_of == nullptr ? "" : library.name_of(operation, status);
    if (known != nullptr) continue;
    LoadedObject object;
    if (!learning.TryLock()) return "";
    if (library.execute.load(std::memory_order_relaxed) == nullptr && FindLoadedObject(execute, &object)) {
      library.name_of = reinterpret_cast<NameFunction>(object.Find("TFE_OpGetName"));
      library.execute.store(execute, std::memory_order_release);
    }
    learning.Unlock();
    return "";
  }
  return "";
}

}  // namespace
}  // namespace vramtrack

extern "C" __attribute__((visibility("default"))) void TFE_Execute(void* operation, void** results, int* count,
                                                                   void* status) {
  using namespace vramtrack;  // NOLINT
  void* const real = Providers::Real(Entry::k_TFE_Execute, __builtin_return_address(0));
  if (real == nullptr) return;
  const char* name = NameOf(operation, status, real);
  if (strncmp(name, kPrefix, sizeof kPrefix - 1) == 0) MarkFunction(name);
  reinterpret_cast<void (*)(void*, void**, int*, void*)>(real)(operation, results, count, status);
}
