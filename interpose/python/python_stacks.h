// SPDX-License-Identifier: Apache-2.0
//
// The Python frames that the calling thread is in, as a number in the trace.
//
// They are read as they lie in memory, without the interpreter's lock: a thread that has released it still owns its
// frames, and nobody changes them while the thread runs our code. Waiting for the lock here would deadlock, because
// PyTorch takes it before the lock of its allocator, which is held in a hook. docs/python.md tells more.
#ifndef INTERPOSE_PYTHON_PYTHON_STACKS_H_
#define INTERPOSE_PYTHON_PYTHON_STACKS_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "interpose/loader/loaded_object.h"
#include "interpose/python/code_deaths.h"
#include "interpose/python/frame_walk.h"
#include "interpose/python/interpreter.h"
#include "interpose/recorder/lane.h"
#include "interpose/stacks/module_map.h"
#include "interpose/stacks/native_stack.h"
#include "interpose/stacks/stack_table.h"

namespace vramtrack {

// Thread-safe. Lives in zeroed memory; a forked child makes its own. Allocates nothing from the program's heap, calls
// nothing of Python that takes a lock or changes a reference count.
class PythonStacks {
 public:
  // Before anything else, if Python frames are wanted at all. `max_frames` <= kMaxFrames.
  void Prepare(size_t max_frames, StackTable* stacks, ModuleMap* modules);

  // The number of the PythonStack of whoever calls; 0 where the thread is in no Python code, where the interpreter is
  // about to end or cannot be read, and where it could not be recorded. What is new is defined in `lane` first. Not for
  // a signal handler that may have interrupted the interpreter.
  uint32_t Take(Lane* lane) {
    const uint64_t frame = Innermost(lane);
    return frame == 0 ? 0 : TakeFrom(frame, lane);
  }

  // The same in two steps. The frame is only valid as long as its thread does not go on; 0: none.
  uint64_t Innermost(Lane* lane) {
    if (!wanted_) return 0;
    if (__builtin_expect(modules_->refresh_due(), 0) && !modules_->Refresh(lane)) return 0;
    if (__builtin_expect(modules_->generation() != looked_at_.load(std::memory_order_acquire), 0)) Look(lane);
    const Candidate* python = current_.load(std::memory_order_acquire);
    return python == nullptr ? 0 : python->interpreter.InnermostFrame(python->checked.load(std::memory_order_acquire));
  }
  uint32_t TakeFrom(uint64_t frame, Lane* lane);

  // Where a native stack of a thread with Python frames ends. Only after Innermost.
  CodeRange interpreter_code() const {
    const Candidate* python = current_.load(std::memory_order_acquire);
    return python == nullptr ? CodeRange{} : python->interpreter.evaluation();
  }

 private:
  // One of the interpreters that there were; a thread may still be looking at one that is gone.
  struct Candidate {
    Interpreter interpreter;
    std::atomic<bool> checked;  // its frames have been seen to be frames
    bool refused;
  };
  static constexpr size_t kMaxInterpreters = 4;  // as many as CodeDeaths can watch

  void Look(Lane* lane);
  Candidate* Known(const LoadedObject& object);
  bool Check(Candidate* python, uint64_t frame, Lane* lane);
  void Watch(const Candidate* python);
  static void Refuse(Candidate* python, Lane* lane);
  bool Define(uint32_t number, const PythonFrames& frames, const FrameOffsets& offsets, Lane* lane);

  bool wanted_;
  uint32_t max_frames_;
  StackTable* stacks_;
  ModuleMap* modules_;
  std::atomic<uint32_t> looked_at_;  // generation of the module map
  std::atomic<Candidate*> current_;
  SpinLock lock_;
  VisitedObjects visited_;  // for an interpreter
  size_t used_;
  Candidate candidates_[kMaxInterpreters];
  CodeTable codes_;
};

}  // namespace vramtrack

#endif  // INTERPOSE_PYTHON_PYTHON_STACKS_H_
