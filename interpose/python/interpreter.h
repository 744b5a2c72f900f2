// SPDX-License-Identifier: Apache-2.0
//
// The Python interpreter of this process, as far as its frames are concerned.
#ifndef INTERPOSE_PYTHON_INTERPRETER_H_
#define INTERPOSE_PYTHON_INTERPRETER_H_

#include <cstdint>

#include "interpose/base/system_call.h"
#include "interpose/loader/loaded_object.h"
#include "interpose/python/frame_offsets.h"
#include "interpose/stacks/native_stack.h"

namespace vramtrack {

// Immutable once found. Valid as long as its library is loaded. Thread-safe.
class Interpreter {
 public:
  enum class Found { kNone, kUsable, kUnknown };

  // Looks whether the object is CPython: the program itself, or libpython, however it was loaded. kUnknown: it is, but
  // of a version or build whose frames are not known; then only described() says something. `program`: the first
  // object, which has the library's variables where it was linked with copies of them.
  Found LookIn(const LoadedObject& object, const LoadedObject& program);
  bool IsIn(const LoadedObject& object) const {
    return base_ == object.base() && object.Contains(reinterpret_cast<const void*>(thread_state_));
  }

  // The innermost frame of the calling thread, or 0 where it has none, has never been in Python, or the interpreter is
  // about to end, when frames of other threads go away. Takes no lock. `trusted`: it is known that frames lie where
  // they should; otherwise the kernel is asked before each read.
  uint64_t InnermostFrame(bool trusted) const {
    if (__builtin_expect(is_finalizing_() != 0, 0)) return 0;
    const auto thread = reinterpret_cast<uint64_t>(thread_state_());
    if (thread == 0 || (!trusted && !IsReadable(thread + offsets_.thread_frame))) return 0;
    const uint64_t first = *reinterpret_cast<const uint64_t*>(thread + offsets_.thread_frame);
    if (!offsets_.by_cframe || first == 0) return first;
    if (!trusted && !IsReadable(first + offsets_.cframe_frame)) return 0;
    return *reinterpret_cast<const uint64_t*>(first + offsets_.cframe_frame);
  }

  const FrameOffsets& offsets() const { return offsets_; }
  size_t layout() const { return layout_; }  // see frame_walk.h
  // The types, as addresses.
  uint64_t code_type() const { return reinterpret_cast<uint64_t>(code_type_); }
  uint64_t text_type() const { return reinterpret_cast<uint64_t>(text_type_); }
  uint64_t bytes_type() const { return reinterpret_cast<uint64_t>(bytes_type_); }
  // Of the function that runs Python code.
  const CodeRange& evaluation() const { return evaluation_; }
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
