// SPDX-License-Identifier: Apache-2.0
//
// Captures the Python frames of the calling thread and returns their number in the trace.
//
// The frames are read from memory without the interpreter's lock (GIL). A thread that has released the lock still owns
// its frames, and nothing changes them while the thread runs our code. Waiting for the lock here would deadlock,
// because PyTorch takes it before the lock of its allocator, which is held in a hook. See docs/python.md.
#ifndef INTERPOSE_PYTHON_PYTHON_STACKS_H_
#define INTERPOSE_PYTHON_PYTHON_STACKS_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "interpose/base/concurrent_table.h"
#include "interpose/loader/loaded_object.h"
#include "interpose/python/code_deaths.h"
#include "interpose/python/frame_walk.h"
#include "interpose/python/interpreter.h"
#include "interpose/recorder/event_writer.h"
#include "interpose/stacks/module_map.h"
#include "interpose/stacks/native_stack.h"
#include "interpose/stacks/stack_table.h"

namespace vramtrack {

// Captures Python stacks. Thread-safe. Must be placed in zeroed memory; a forked child creates its own. Does not
// allocate from the program's heap, and calls no Python function that takes a lock or changes a reference count.
class PythonStacks {
 public:
  // Enables the capture of Python frames; without this call every stack is 0. Call it before any other function.
  // `max_frames` <= kMaxFrames. `stacks` and `modules` are not owned and must outlive this object.
  void Prepare(size_t max_frames, StackTable* stacks, ModuleMap* modules);

  // Return the number of the calling thread's PythonStack, in two steps. Innermost returns the innermost frame; it is
  // valid only until the thread continues to run Python code. It returns 0 if the thread is not in Python code, and if
  // the interpreter is finalizing or cannot be read. TakeFrom returns the number of the stack from that frame, or 0 if
  // the stack could not be recorded. It defines a new stack in `writer` first. Must not be called in a signal handler
  // that may have interrupted the interpreter.
  uint64_t Innermost(EventWriter* writer) {
    if (__builtin_expect(!wanted_, 0)) return 0;
    if (__builtin_expect(look_due(), 0) && !Look(writer)) return 0;
    return InnermostNow();
  }
  uint32_t TakeFrom(uint64_t frame, EventWriter* writer);
  // Returns what TakeFrom would, or 0 if that is not known without reading more than the chain of frames.
  uint32_t Known(uint64_t frame) const {
    const Candidate* python = current_.load(std::memory_order_acquire);
    if (python == nullptr || !python->checked.load(std::memory_order_acquire)) return 0;
    return KnownStack(HashOfFrames(python->interpreter.offsets(), frame, max_frames_));
  }
  // The same as Innermost, while look_due() is false.
  uint64_t InnermostNow() const;
  // Returns whether libraries may have been loaded or unloaded since the search for the interpreter.
  bool look_due() const {
    return wanted_ && (modules_->refresh_due() || modules_->generation() != looked_at_.load(std::memory_order_acquire));
  }

  // Returns the code of the interpreter at which the native stack of a thread with Python frames ends, or null. Valid
  // only after Innermost.
  const CodeRange* interpreter_code() const {
    const Candidate* python = current_.load(std::memory_order_acquire);
    if (python == nullptr) return nullptr;
    const CodeRange& code = python->interpreter.evaluation();
    return code.begin == code.end ? nullptr : &code;
  }

  // Returns the interpreter of this process, or null as long as none was found whose frames are as expected. Owned by
  // this object.
  const Interpreter* interpreter() const {
    const Candidate* python = current_.load(std::memory_order_acquire);
    return python != nullptr && python->checked.load(std::memory_order_acquire) ? &python->interpreter : nullptr;
  }

  // Returns an interpreter of this process that cannot be read, or null. Only its described() is valid.
  const Interpreter* refused() const { return refused_.load(std::memory_order_acquire); }

 private:
  // An interpreter that was found. It is kept when its library is unloaded, because a thread may still be using it.
  struct alignas(64) Candidate {
    std::atomic<bool> checked;  // its frames were found to be plausible
    bool refused;
    Interpreter interpreter;
  };
  static constexpr size_t kMaxInterpreters = 4;  // as many as CodeDeaths can watch

  bool Look(EventWriter* writer);
  // An address of a code object may have become that of another one since.
  uint32_t KnownStack(uint64_t hash) const {
    const uint64_t known = known_.Find(hash);
    const bool valid = known != 0 && known >> 32 == CodeDeaths::count();
    return __builtin_expect(valid, 1) ? static_cast<uint32_t>(known) : 0;
  }
  Candidate* Known(const LoadedObject& object);
  bool Check(Candidate* python, uint64_t frame, EventWriter* writer);
  void Watch(const Candidate* python);
  void Refuse(Candidate* python, EventWriter* writer);
  uint32_t Walk(const Interpreter& python, uint64_t frame, uint64_t hash, EventWriter* writer);
  bool Define(uint32_t number, const PythonFrames& frames, const FrameOffsets& offsets, EventWriter* writer);

  alignas(64) bool wanted_;
  std::atomic<uint32_t> looked_at_;  // generation of the module map at the last search
  uint32_t max_frames_;
  ModuleMap* modules_;
  std::atomic<Candidate*> current_;
  ConcurrentTable known_;  // HashOfFrames to the stack's number, and CodeDeaths::count() above it
  StackTable* stacks_;
  std::atomic<const Interpreter*> refused_;
  SpinLock lock_;
  VisitedObjects visited_;  // objects that were searched for an interpreter
  size_t used_;
  Candidate candidates_[kMaxInterpreters];
  CodeTable codes_;
};

}  // namespace vramtrack

#endif  // INTERPOSE_PYTHON_PYTHON_STACKS_H_
