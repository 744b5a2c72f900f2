// SPDX-License-Identifier: Apache-2.0
//
// From the calling thread's stack to its number in the trace: by a guess that is checked, otherwise by a walk along
// rules, otherwise by libunwind's cursor. docs/stacks.md explains why all three give the same.
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

// Thread-safe. Lives in zeroed memory; a forked child makes its own.
class StackCapture {
 public:
  // Before any capture, while no other thread uses this. Frames at the inner end of a stack that lie in `own` are left
  // out; then at most `max_frames` (<= kMaxFrames) are kept.
  void Prepare(size_t max_frames, const CodeRange& own);

  // The number of the stack of whoever calls, at least 1; 0 where it could not be recorded. It ends with the first
  // frame in `last`, if it has one. `*through_signal` (may be null): whether it is that of a signal handler. A new
  // stack is defined in `lane` first. Allocates nothing. Takes the loader's short lock for its list of objects, but
  // only for code that it has not met before and for stacks that need the cursor. Not for a signal handler that may
  // have interrupted a capture of the same thread; in any other handler it may be called.
  uint32_t Take(CaptureThread* thread, const CodeRange& last, StackTable* stacks, ModuleMap* modules, Lane* lane,
                bool* through_signal = nullptr);

  CaptureThreads& threads() { return threads_; }
  const StackRecords& records() const { return records_; }

  // Adds what was counted since the last time to the counters of the file's header page: of one thread, or of all.
  void Publish(CaptureThread* thread, TraceFile* file) const;
  void PublishAll(TraceFile* file) const;

 private:
  // What is asked for.
  struct Request {
    Registers start;
    CodeRange last;
    uint32_t epoch;
    StackTable* stacks;
    ModuleMap* modules;
    Lane* lane;
    bool* through_signal;

    // A record of a whole stack is none of one that ends early.
    uint32_t RecordEpoch() const { return epoch << 1 | (last.end != last.begin); }
  };

  // The stack at its start, walked by rules; on the thread's own stack or on another one.
  uint32_t Walk(const Request& request, CaptureThread* thread, Prediction* prediction);
  uint32_t WalkForeign(const Request& request, CaptureThread* thread);
  // Into thread->walk; what is from start.sp to `limit` can be read.
  WalkEnd WalkTo(const Request& request, uint64_t limit, CaptureThread* thread);
  // By libunwind's cursor.
  uint32_t Step(const Request& request, CaptureCount why, CaptureThread* thread);

  size_t max_frames_;
  CodeRange own_;
  RuleTable rules_;
  StackRecords records_;
  CaptureThreads threads_;
};

// Where the code of the program or library that this is linked into lies.
CodeRange OwnCode();

}  // namespace vramtrack

#endif  // INTERPOSE_STACKS_STACK_CAPTURE_H_
