// SPDX-License-Identifier: Apache-2.0
//
// Compares captured stacks with those that libunwind's cursor gives at the same place.
#ifndef TESTS_STACKS_ORACLE_H_
#define TESTS_STACKS_ORACLE_H_

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "interpose/stacks/stack_capture.h"

// Of functions that stand for a tracer's own; the linker says where they begin and end.
#define OWN_CODE __attribute__((noinline, section("own_code")))
extern "C" const char __start_own_code[], __stop_own_code[];

namespace vramtrack {

// One recording without hooks. Thread-safe: every thread that checks gets a writer.
class Oracle {
 public:
  Oracle(size_t max_frames, const CodeRange& own);

  // Captures the stack here and walks it with the cursor; what differs is found by Verify.
  void Check();

  // Only captures. Its code is in the section that OWN_CODE puts functions into.
  uint32_t Capture();

  // To be called at the end, by the only thread left: writes the trace, reads it again, and returns how many of the
  // captures have another stack in it than the cursor gave, or counts another value; the first is described on stderr.
  uint64_t Verify();

  // A thread that has checked must leave before it ends.
  void Leave();

  uint64_t captures() const { return captures_.load(); }
  uint64_t Count(CaptureCount which) {
    uint64_t sum = 0;
    capture_->threads().EachThread([&](const CaptureThread* thread) { sum += thread->count(which); });
    return sum;
  }
  ModuleMap& modules() { return *modules_; }
  StackCapture& capture() { return *capture_; }

 private:
  using Frames = std::vector<uint64_t>;
  struct Seen {
    std::map<uint32_t, Frames> by_stack;  // what the cursor gave when this number was captured
    uint64_t differing = 0;
  };
  struct Attached;

  Attached* Attach();

  static thread_local Attached* attached_;

  const size_t max_frames_;
  std::string path_;
  TraceFile* file_;
  StackTable* stacks_;
  ModuleMap* modules_;
  StackCapture* capture_;
  std::atomic<uint64_t> captures_{0};
  std::atomic<uint32_t> next_thread_{0};
  std::mutex mutex_;
  std::vector<Seen> left_;
  std::vector<EventWriter*> free_writers_;
};

}  // namespace vramtrack

#endif  // TESTS_STACKS_ORACLE_H_
