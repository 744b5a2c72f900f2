// SPDX-License-Identifier: Apache-2.0
#include "tests/stacks/oracle.h"

#include <stdlib.h>
#include <unistd.h>

#include <cstdio>
#include <utility>

#define UNW_LOCAL_ONLY
#include <libunwind.h>

#include "analyzer/ingest/trace.h"

namespace vramtrack {
namespace {

template <typename T>
T* Zeroed() {
  return static_cast<T*>(MapPrivate(sizeof(T)));
}

// Of the caller, without this function's own frame.
__attribute__((noinline)) void WalkWithCursor(size_t most, std::vector<uint64_t>* frames) {
  unw_context_t context;
  unw_cursor_t cursor;
  unw_getcontext(&context);
  if (unw_init_local(&cursor, &context) < 0) return;
  while (frames->size() < most && unw_step(&cursor) > 0) {
    unw_word_t ip = 0;
    unw_get_reg(&cursor, UNW_REG_IP, &ip);
    if (ip < kLowestCodeAddress) break;
    frames->push_back(ip);
    // Without unwind information libunwind names a function of one byte, and guesses from here on.
    static thread_local std::map<uint64_t, bool> known;
    const auto found = known.find(ip);
    if (found == known.end()) {
      unw_proc_info_t function;
      // The return from a signal handler is known by its instructions, where nothing is said about it.
      known[ip] = (unw_get_proc_info(&cursor, &function) == 0 && function.end_ip - function.start_ip > 1) ||
                  unw_is_signal_frame(&cursor) > 0;
    }
    if (!known[ip]) break;
  }
}

}  // namespace

struct Oracle::Attached {
  Oracle* oracle;
  EventWriter* writer;
  CaptureThread* thread;
  Seen seen;
};

thread_local Oracle::Attached* Oracle::attached_;

Oracle::Oracle(size_t max_frames, const CodeRange& own)
    : max_frames_(max_frames),
      file_(Zeroed<TraceFile>()),
      stacks_(Zeroed<StackTable>()),
      modules_(Zeroed<ModuleMap>()),
      capture_(Zeroed<StackCapture>()) {
  static int number = 0;
  const char* folder = getenv("TEST_TMPDIR");
  path_ = std::string(folder != nullptr ? folder : "/tmp") + "/oracle." + std::to_string(getpid()) + "." +
          std::to_string(number++) + ".vtrace";
  unlink(path_.c_str());
  Clock::Calibrate();
  if (file_->Create(path_.c_str(), UINT64_MAX) != 0) abort();
  capture_->Prepare(max_frames, own, stacks_, modules_);
}

Oracle::Attached* Oracle::Attach() {
  auto* attached = new Attached{this, nullptr, capture_->threads().Acquire(), {}};
  uint64_t* journal = nullptr;
  {
    std::lock_guard<std::mutex> hold(mutex_);
    if (!free_writers_.empty()) {
      attached->writer = free_writers_.back();
      journal = attached->writer->journal();
      free_writers_.pop_back();
    }
  }
  if (attached->writer == nullptr) {
    attached->writer = Zeroed<EventWriter>();
    journal = file_->NewJournal();
  }
  attached->writer->Attach(file_, journal, next_thread_.fetch_add(1));
  return attached_ = attached;
}

void Oracle::Leave() {
  Attached* attached = attached_;
  if (attached == nullptr) return;
  attached->writer->Seal();
  capture_->threads().Release(attached->thread);
  std::lock_guard<std::mutex> hold(mutex_);
  free_writers_.push_back(attached->writer);
  left_.push_back(std::move(attached->seen));
  delete attached;
  attached_ = nullptr;
}

OWN_CODE uint32_t Oracle::Capture() {
  Attached* attached = attached_ != nullptr && attached_->oracle == this ? attached_ : Attach();
  captures_.fetch_add(1, std::memory_order_relaxed);
  const uint32_t stack = capture_->Take(attached->thread, nullptr, attached->writer);
  asm volatile("" : : : "memory");  // no tail call
  return stack;
}

__attribute__((noinline)) void Oracle::Check() {
  Attached* attached = attached_ != nullptr && attached_->oracle == this ? attached_ : Attach();
  const uint32_t stack = capture_->Take(attached->thread, nullptr, attached->writer);
  Frames frames;
  WalkWithCursor(max_frames_, &frames);
  captures_.fetch_add(1, std::memory_order_relaxed);
  const auto known = attached->seen.by_stack.emplace(stack, frames);
  // The innermost frame is this function's, at two different calls.
  if (!known.second && (known.first->second.size() != frames.size() ||
                        !std::equal(frames.begin() + 1, frames.end(), known.first->second.begin() + 1))) {
    ++attached->seen.differing;
  }
}

uint64_t Oracle::Verify() {
  Leave();
  capture_->PublishAll(file_);
  file_->Finish(Clock::Ticks(), 0);
  auto trace = Trace::Open(path_);
  if (!trace.ok()) {
    std::fprintf(stderr, "%s\n", std::string(trace.status().message()).c_str());
    return captures();
  }
  const Definitions& definitions = (*trace)->definitions();
  uint64_t differing = 0;
  for (uint32_t i = 0; i < kCaptureCounts; ++i) {
    const auto counter = static_cast<schema::Counter>(schema::COUNTER_STACK_FIRST_GUESSES + i);
    if ((*trace)->counter(counter) == Count(static_cast<CaptureCount>(i))) continue;
    std::fprintf(stderr, "counter %u of the trace is not what was counted\n", counter);
    ++differing;
  }
  for (const Seen& seen : left_) {
    differing += seen.differing;
    for (const auto& [number, frames] : seen.by_stack) {
      const StackRef stack = definitions.stacks.Get(definitions.stacks.Distinct(number)).native;
      bool same = number != 0 && stack.count == frames.size();
      for (size_t i = 1; same && i < frames.size(); ++i) same = stack.frames[i] == frames[i];
      if (same) continue;
      if (differing++ != 0) continue;
      std::fprintf(stderr, "stack %u has %zu frames, the cursor gave %zu\n", number, size_t{stack.count},
                   frames.size());
      for (size_t i = 0; i < stack.count || i < frames.size(); ++i) {
        std::fprintf(stderr, "  %3zu %#18lx %#18lx\n", i, i < stack.count ? stack.frames[i] : 0,
                     i < frames.size() ? frames[i] : 0);
      }
    }
  }
  unlink(path_.c_str());
  return differing;
}

}  // namespace vramtrack
