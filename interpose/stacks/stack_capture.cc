// SPDX-License-Identifier: Apache-2.0
#include "interpose/stacks/stack_capture.h"

#include "interpose/stacks/native_stack.h"
#include "interpose/stacks/predicted_capture.h"
#include "interpose/stacks/rule_learner.h"
#include "interpose/stacks/stack_walk.h"

// From the linker.
extern "C" {
extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char etext[] __attribute__((visibility("hidden")));
}

namespace vramtrack {
namespace {

// First guesses of a thread that hold between two publications of its counts.
constexpr uint32_t kPublishEvery = 4096;

// Of a stack that is not the thread's own: what is tried to be read at first, and at last.
constexpr uint64_t kFirstForeignBytes = 16 << 10, kLastForeignBytes = 1 << 20;

}  // namespace

CodeRange OwnCode() { return {reinterpret_cast<uint64_t>(__ehdr_start), reinterpret_cast<uint64_t>(etext)}; }

void StackCapture::Prepare(size_t max_frames, const CodeRange& own) {
  max_frames_ = max_frames;
  own_ = own;
  vramtrack_prepare_unwinder();
}

__attribute__((noinline)) uint32_t StackCapture::Take(CaptureThread* thread, const CodeRange& last, StackTable* stacks,
                                                      ModuleMap* modules, Lane* lane, bool* through_signal) {
  Request request = {CallerOf(__builtin_frame_address(0), __builtin_dwarf_cfa()),
                     last,
                     modules->epoch(),
                     stacks,
                     modules,
                     lane,
                     through_signal};
  if (__builtin_expect(modules->refresh_due(), 0)) {
    if (!modules->Refresh(lane)) return Step(request, kModuleChanges, thread);
    request.epoch = modules->epoch();
  }
  if (__builtin_expect(thread->epoch != request.epoch, 0)) {
    if (!rules_.BeginEpoch(request.epoch)) return Step(request, kModuleChanges, thread);
    thread->epoch = request.epoch;
  }
  if (!kHaveUnwindRules) return Step(request, kUnusualFrames, thread);
  const Registers& start = request.start;
  if (__builtin_expect(!thread->region.Covers(start.sp), 0)) return WalkForeign(request, thread);
  Prediction prediction(thread, &records_);
  const uint32_t index = prediction.Guess(start, thread->region.end() - start.sp, request.RecordEpoch());
  if (__builtin_expect(index == 0, 0)) return Walk(request, thread, &prediction);
  const uint64_t guesses = thread->count(kFirstGuesses);
  // Once for each multiple: the count stands still while other guesses hold.
  if (__builtin_expect(guesses % kPublishEvery == 0, 0) && thread->published(kFirstGuesses) != guesses) {
    Publish(thread, &lane->file());
  }
  return records_.At(index)->stack;
}

__attribute__((noinline)) uint32_t StackCapture::Walk(const Request& request, CaptureThread* thread,
                                                      Prediction* prediction) {
  StackWalk* walk = &thread->walk;
  const WalkEnd end = WalkTo(request, thread->region.end(), thread);
  if (end != WalkEnd::kWhole && end != WalkEnd::kWithoutInformation) {
    prediction->Was(0);
    return Step(request, end == WalkEnd::kSignal ? kSignalFrames : kUnusualFrames, thread);
  }
  thread->Count(kWalks);
  if (!walk->recordable) {
    prediction->Was(0);
    return request.stacks->Intern(walk->stack, request.modules, request.lane);
  }
  uint64_t hash;
  uint32_t index = records_.Find(request.start, *walk, request.RecordEpoch(), &hash);
  if (index != 0) {
    prediction->Was(index);
    return records_.At(index)->stack;
  }
  const uint32_t stack = request.stacks->Intern(walk->stack, request.modules, request.lane);
  if (stack != 0 && request.modules->epoch() == request.epoch && records_.SeenBefore(hash)) {
    index = records_.Make(request.start, *walk, request.RecordEpoch(), hash, stack);
  }
  prediction->Was(index);
  return stack;
}

__attribute__((noinline)) uint32_t StackCapture::WalkForeign(const Request& request, CaptureThread* thread) {
  WalkEnd end = WalkEnd::kOutside;
  for (uint64_t bytes = kFirstForeignBytes; end == WalkEnd::kOutside && bytes <= kLastForeignBytes; bytes *= 8) {
    end = WalkTo(request, StackRegion::ReadableEnd(request.start.sp, bytes), thread);
  }
  if (end != WalkEnd::kWhole && end != WalkEnd::kWithoutInformation) {
    return Step(request, end == WalkEnd::kSignal ? kSignalFrames : kUnusualFrames, thread);
  }
  thread->Count(kForeignWalks);
  return request.stacks->Intern(thread->walk.stack, request.modules, request.lane);
}

WalkEnd StackCapture::WalkTo(const Request& request, uint64_t limit, CaptureThread* thread) {
  RuleTable::Changes changes;
  const WalkEnd end = WalkByRules(request.start, limit, {max_frames_, own_, request.last}, request.epoch, &rules_,
                                  &changes, &thread->walk);
  if (__builtin_expect(changes.learned != 0, 0)) {
    thread->Count(kRulesLearned, changes.learned);
    thread->Count(kRulesEvicted, changes.evicted);
  }
  if (end == WalkEnd::kWithoutInformation) thread->Count(kWithoutInformation);
  return end;
}

uint32_t StackCapture::Step(const Request& request, CaptureCount why, CaptureThread* thread) {
  thread->Count(why);
  if (why == kSignalFrames && request.through_signal != nullptr) *request.through_signal = true;
  WalkByCursor(request.start, {max_frames_, own_, request.last}, &thread->walk.stack);
  return request.stacks->Intern(thread->walk.stack, request.modules, request.lane);
}

void StackCapture::Publish(CaptureThread* thread, TraceFile* file) const {
  static_assert(schema::COUNTER_STACK_RULES_EVICTED - schema::COUNTER_STACK_FIRST_GUESSES == kRulesEvicted,
                "the counters have the order of CaptureCount");
  for (uint32_t i = 0; i < kCaptureCounts; ++i) {
    const uint64_t more = thread->TakeUnpublished(static_cast<CaptureCount>(i));
    const auto which = static_cast<schema::Counter>(schema::COUNTER_STACK_FIRST_GUESSES + i);
    if (more != 0) file->counter(which)->fetch_add(more, std::memory_order_relaxed);
  }
  file->counter(schema::COUNTER_STACK_RECORD_BYTES)->store(records_.bytes(), std::memory_order_relaxed);
}

void StackCapture::PublishAll(TraceFile* file) const {
  threads_.EachThread([&](CaptureThread* thread) { Publish(thread, file); });
}

}  // namespace vramtrack
