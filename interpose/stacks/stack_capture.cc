// SPDX-License-Identifier: Apache-2.0
#include "interpose/stacks/stack_capture.h"

#include "interpose/stacks/cursor_walk.h"
#include "interpose/stacks/predicted_capture.h"
#include "interpose/stacks/registers.h"
#include "interpose/stacks/rule_learner.h"
#include "interpose/stacks/stack_walk.h"

// From the linker.
extern "C" {
extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char etext[] __attribute__((visibility("hidden")));
}

namespace vramtrack {
namespace {

// Captures of a thread between two publications of the counts.
constexpr uint64_t kPublishEvery = 4096;

CaptureCount ReasonOf(WalkEnd end) {
  switch (end) {
    case WalkEnd::kNoInformation:
      return kNoUnwindInfos;
    case WalkEnd::kSignal:
      return kSignalFrames;
    default:
      return kUnusualFrames;
  }
}

}  // namespace

CodeRange OwnCode() { return {reinterpret_cast<uint64_t>(__ehdr_start), reinterpret_cast<uint64_t>(etext)}; }

void StackCapture::Prepare(size_t max_frames, const CodeRange& own) {
  max_frames_ = max_frames;
  own_ = own;
  vramtrack_prepare_unwinder();
}

__attribute__((noinline)) uint32_t StackCapture::Take(CaptureThread* thread, StackTable* stacks, ModuleMap* modules,
                                                      Lane* lane) {
  const Registers start = CallerOf(__builtin_frame_address(0));
  if (__builtin_expect(modules->refresh_due(), 0) && !modules->Refresh(lane)) {
    return Step(start, kModuleChanges, thread, stacks, modules, lane);
  }
  const uint32_t epoch = modules->epoch();
  if (__builtin_expect(thread->epoch != epoch, 0)) {
    rules_.BeginEpoch(epoch);
    thread->epoch = epoch;
  }
  if (!kHaveUnwindRules || __builtin_expect(!thread->region.Covers(start.sp), 0)) {
    return Step(start, kForeignStacks, thread, stacks, modules, lane);
  }
  Prediction prediction(thread, &records_);
  uint32_t index = prediction.Guess(start, thread->region.end() - start.sp, epoch);
  if (__builtin_expect(index != 0, 1)) {
    if (__builtin_expect(thread->count(kFirstGuesses) % kPublishEvery == 0, 0)) Publish(&lane->file());
    return records_.At(index)->stack;
  }

  StackWalk* walk = &thread->walk;
  RuleTable::Changes changes;
  const WalkEnd end = WalkByRules(start, thread->region.end(), max_frames_, own_, epoch, &rules_, &changes, walk);
  thread->Count(kRulesLearned, changes.learned);
  thread->Count(kRulesEvicted, changes.evicted);
  if (end != WalkEnd::kWhole) {
    prediction.Was(0);
    return Step(start, ReasonOf(end), thread, stacks, modules, lane);
  }
  thread->Count(kWalks);
  uint64_t hash = 0;
  if (walk->recordable) index = records_.Find(start, *walk, epoch, &hash);
  uint32_t stack;
  if (index != 0) {
    stack = records_.At(index)->stack;
  } else {
    stack = stacks->Intern(walk->stack, modules, lane);
    if (stack != 0 && walk->recordable && modules->epoch() == epoch && records_.SeenBefore(hash)) {
      index = records_.Make(start, *walk, epoch, hash, stack);
    }
  }
  prediction.Was(index);
  return stack;
}

uint32_t StackCapture::Step(const Registers& start, CaptureCount why, CaptureThread* thread, StackTable* stacks,
                            ModuleMap* modules, Lane* lane) {
  thread->Count(why);
  WalkByCursor(start, max_frames_, own_, &thread->walk.stack);
  return stacks->Intern(thread->walk.stack, modules, lane);
}

void StackCapture::Publish(TraceFile* file) const {
  static_assert(schema::COUNTER_STACK_RULES_EVICTED - schema::COUNTER_STACK_FIRST_GUESSES == kRulesEvicted,
                "the counters have the order of CaptureCount");
  for (uint32_t i = 0; i < kCaptureCounts; ++i) {
    const auto which = static_cast<schema::Counter>(schema::COUNTER_STACK_FIRST_GUESSES + i);
    file->counter(which)->store(threads_.Sum(static_cast<CaptureCount>(i)), std::memory_order_relaxed);
  }
  file->counter(schema::COUNTER_STACK_RECORD_BYTES)->store(records_.bytes(), std::memory_order_relaxed);
}

}  // namespace vramtrack
