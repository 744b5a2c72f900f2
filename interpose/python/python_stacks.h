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
    if (!wanted_) return 0;
    if (__builtin_expect(modules_->refresh_due(), 0) && !modules_->Refresh(writer)) return 0;
    if (__builtin_expect(modules_->generation() != looked_at_.load(std::memory_order_acquire), 0)) Look(writer);
    const Candidate* python = current_.load(std::memory_order_acquire);
    return python == nullptr ? 0 : python->interpreter.InnermostFrame(python->checked.load(std::memory_order_acquire));
  }
  uint32_t TakeFrom(uint64_t frame, EventWriter* writer);

  // Returns the code of the interpreter at which the native stack of a thread with Python frames ends, or an empty
  // range. Valid only after Innermost.
  CodeRange interpreter_code() const {
    const Candidate* python = current_.load(std::memory_order_acquire);
    return python == nullptr ? CodeRange{} : python->interpreter.evaluation();
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
  struct Candidate {
    Interpreter interpreter;
    std::atomic<bool> checked;  // its frames were found to be plausible
    bool refused;
  };
  static constexpr size_t kMaxInterpreters = 4;  // as many as CodeDeaths can watch

  void Look(EventWriter* writer);
  Candidate* Known(const LoadedObject& object);
  bool Check(Candidate* python, uint64_t frame, EventWriter* writer);
  void Watch(const Candidate* python);
  void Refuse(Candidate* python, EventWriter* writer);
  uint32_t Walk(const Interpreter& python, uint64_t frame, uint64_t hash, EventWriter* writer);
  bool Define(uint32_t number, const PythonFrames& frames, const FrameOffsets& offsets, EventWriter* writer);

  bool wanted_;
  uint32_t max_frames_;
  StackTable* stacks_;
  ModuleMap* modules_;
  std::atomic<uint32_t> looked_at_;  // generation of the module map at the last search
  std::atomic<Candidate*> current_;
  std::atomic<const Interpreter*> refused_;
  SpinLock lock_;
  VisitedObjects visited_;  // objects that were searched for an interpreter
  size_t used_;
  Candidate candidates_[kMaxInterpreters];
  CodeTable codes_;
  ConcurrentTable known_;  // HashOfFrames to the stack's number, and CodeDeaths::count() above it
};

}  // namespace vramtrack

#endif  // INTERPOSE_PYTHON_PYTHON_STACKS_H_
