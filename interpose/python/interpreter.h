// SPDX-License-Identifier: Apache-2.0
//
// Finds the Python interpreter of this process and the innermost Python frame of a thread.
#ifndef INTERPOSE_PYTHON_INTERPRETER_H_
#define INTERPOSE_PYTHON_INTERPRETER_H_

#include <cstdint>

#include "interpose/base/system_call.h"
#include "interpose/loader/loaded_object.h"
#include "interpose/python/frame_offsets.h"
#include "interpose/stacks/native_stack.h"

namespace vramtrack {

// A Python interpreter. Immutable once found, and therefore thread-safe. Valid as long as its library is loaded.
class Interpreter {
 public:
  enum class Found { kNone, kUsable, kUnknown };

  // Finds out whether `object` is CPython: the program itself, or libpython, however it was loaded. Returns kUnknown if
  // it is CPython but its version or build is not known; then only described() is valid. `program` is the first loaded
  // object. It holds the library's variables if it was linked with copies of them.
  Found LookIn(const LoadedObject& object, const LoadedObject& program);
  // Returns whether this is the interpreter in `object`.
  bool IsIn(const LoadedObject& object) const {
    return base_ == object.base() && object.Contains(reinterpret_cast<const void*>(thread_state_));
  }

  // Returns the innermost frame of the calling thread. Returns 0 if the thread has none or has never been in Python,
  // and while the interpreter is finalizing, because frames of other threads are freed then. Takes no lock. `trusted`
  // means that the offsets are known to be right; otherwise a system call tests each address before it is read.
  uint64_t InnermostFrame(bool trusted) const {
    if (__builtin_expect(is_finalizing_() != 0, 0)) return 0;
    const auto thread = reinterpret_cast<uint64_t>(thread_state_());
    if (thread == 0 || (!trusted && !IsReadable(thread + offsets_.thread_frame))) return 0;
    const uint64_t first = *reinterpret_cast<const uint64_t*>(thread + offsets_.thread_frame);
    if (!offsets_.by_cframe || first == 0) return first;
    if (!trusted && !IsReadable(first + offsets_.cframe_frame)) return 0;
    return *reinterpret_cast<const uint64_t*>(first + offsets_.cframe_frame);
  }

  // Returns whether the interpreter has begun to end: its objects may be gone.
  bool IsFinalizing() const { return is_finalizing_() != 0; }
  // Returns an address in the interpreter's code.
  const void* address() const { return reinterpret_cast<const void*>(thread_state_); }
  const FrameOffsets& offsets() const { return offsets_; }
  size_t layout() const { return layout_; }  // see frame_walk.h
  // The addresses of the types code, str and bytes.
  uint64_t code_type() const { return reinterpret_cast<uint64_t>(code_type_); }
  uint64_t text_type() const { return reinterpret_cast<uint64_t>(text_type_); }
  uint64_t bytes_type() const { return reinterpret_cast<uint64_t>(bytes_type_); }
  // The code of the function that runs Python code.
  const CodeRange& evaluation() const { return evaluation_; }
  // A name for reports. Owned by this object.
  const char* described() const { return described_; }

 private:
  uint32_t VersionOf(const LoadedObject& object, const void* runtime) const;
  bool ReadOffsets(const LoadedObject& object, uint32_t version, const void* runtime);

  FrameOffsets offsets_;
  size_t layout_;
  void* (*thread_state_)();
  int (*is_finalizing_)();
  const void* code_type_;
  const void* text_type_;
  const void* bytes_type_;
  CodeRange evaluation_;
  uint64_t base_;
  char described_[128];
};

}  // namespace vramtrack

#endif  // INTERPOSE_PYTHON_INTERPRETER_H_
