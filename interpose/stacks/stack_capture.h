// SPDX-License-Identifier: Apache-2.0
//
// Captures the calling thread's stack and returns its number in the trace. It tries three ways in turn: a prediction
// that is checked, a walk with unwind rules, and libunwind's cursor. docs/internals/stacks.md explains why all three
// give the same stack.
#ifndef INTERPOSE_STACKS_STACK_CAPTURE_H_
#define INTERPOSE_STACKS_STACK_CAPTURE_H_

#include <cstddef>
#include <cstdint>

#include "interpose/recorder/lane.h"
#include "interpose/stacks/capture_thread.h"
#include "interpose/stacks/module_map.h"
#include "interpose/stacks/native_stack.h"
#include "interpose/stacks/predicted_capture.h"
#include "interpose/stacks/rule_table.h"
#include "interpose/stacks/stack_record.h"
#include "interpose/stacks/stack_table.h"

namespace vramtrack {

// Captures stacks. Thread-safe. Must be placed in zeroed memory; a forked child creates its own.
class StackCapture {
 public:
  // Call this before any capture, while no other thread uses the object. The innermost frames in `own` are left out of
  // every stack; of the others at most `max_frames` (<= kMaxFrames) are kept.
  void Prepare(size_t max_frames, const CodeRange& own);

  // Returns the number of the caller's stack, which is at least 1, or 0 if the stack could not be recorded. The stack
  // ends with the first frame in `last`, if there is one. Sets `*through_signal`, if it is not null, to true if the
  // stack goes through a signal handler; otherwise leaves it unchanged. Defines a new stack in `lane` first. Does not
  // allocate from the heap. Takes the loader's lock on its list of objects briefly, but only for code that it has not
  // seen before and for stacks that need the cursor. May be called in a signal handler, unless that handler may have
  // interrupted a capture of the same thread.
  uint32_t Take(CaptureThread* thread, const CodeRange& last, StackTable* stacks, ModuleMap* modules, Lane* lane,
                bool* through_signal = nullptr);

  CaptureThreads& threads() { return threads_; }
  const StackRecords& records() const { return records_; }

  // Add the counts of one thread, or of all threads, since the last call to the counters in the file's header page.
  void Publish(CaptureThread* thread, TraceFile* file) const;
  void PublishAll(TraceFile* file) const;

 private:
  // The arguments of one capture.
  struct Request {
    Registers start;
    CodeRange last;
    uint32_t epoch;
    StackTable* stacks;
    ModuleMap* modules;
    Lane* lane;
    bool* through_signal;

    // Separates the records of stacks that end in `last` from those of whole stacks.
    uint32_t RecordEpoch() const { return epoch << 1 | (last.end != last.begin); }
  };

  // Walk the stack with rules, on the thread's own stack or on another one. Both return the stack's number, or 0.
  uint32_t Walk(const Request& request, CaptureThread* thread, Prediction* prediction);
  uint32_t WalkForeign(const Request& request, CaptureThread* thread);
  // Walks into thread->walk. The memory from start.sp to `limit` must be readable.
  WalkEnd WalkTo(const Request& request, uint64_t limit, CaptureThread* thread);
  // Walks the stack with libunwind's cursor and returns its number, or 0. Counts `why`.
  uint32_t Step(const Request& request, CaptureCount why, CaptureThread* thread);

  size_t max_frames_;
  CodeRange own_;
  RuleTable rules_;
  StackRecords records_;
  CaptureThreads threads_;
};

// Returns the addresses of the code of the program or library that this is linked into.
CodeRange OwnCode();

}  // namespace vramtrack

#endif  // INTERPOSE_STACKS_STACK_CAPTURE_H_
