// SPDX-License-Identifier: Apache-2.0
//
// Traces for tests of comparisons.
#ifndef ANALYZER_DIFF_TESTING_TEST_JOB_H_
#define ANALYZER_DIFF_TESTING_TEST_JOB_H_

#include <cstdint>
#include <functional>
#include <random>
#include <string>

#include "proto/trace_builder.h"

namespace vramtrack {

constexpr uint64_t kMiB = 1 << 20;

// The options of a simulated job. It is a Python job, because its stacks have names without files. Function i of the
// job is on line 10 * i.
struct JobOptions {
  int steps = 100;
  uint64_t activation = 8 * kMiB, leak = 0;
  uint64_t graph = 0;       // bytes kept in each step, from two lines of a function that nothing else calls
  uint64_t two_lines = 0;   // bytes from two lines of one function
  uint64_t evaluation = 0;  // more bytes in every 25th step
  int mark_every = 1;       // the number of steps per mark
  uint32_t line_shift = 0;
  std::string suffix;  // added to all names of functions
  std::string file = "/repo/train.py";
  int rank = -1;
  double step_size = 0;
  bool noise = false;
  unsigned seed = 1;
};

class Job {
 public:
  explicit Job(const JobOptions& options) : options_(options), random_(options.seed) {
    trace_.DefineProcess(0, 77, {"python", "train.py"}, options.rank);
    trace_.DefineDevice(0, 0, "Simulated GPU", 4096 * kMiB);
    for (uint32_t i = 1; i <= 8; ++i) {
      trace_.DefineCode(0, i, "function" + std::to_string(i) + options.suffix, options.file,
                        10 * i + options.line_shift, schema::LINES_LINETABLE, std::string("\4\0", 2));
      trace_.DefinePythonStack(0, 100 + i, {{i, 0}, {8, 0}});
      trace_.DefineJoinedStack(0, i, 0, 100 + i);
    }
    for (uint32_t line = 0; line < 2; ++line) {
      trace_.DefineCode(0, 9 + line, "function9", options.file, 90 + 5 * line, schema::LINES_LINETABLE,
                        std::string("\4\0", 2));
      trace_.DefinePythonStack(0, 109 + line, {{9 + line, 0}, {7, 0}, {8, 0}});
      trace_.DefineJoinedStack(0, 9 + line, 0, 109 + line);
    }
  }

  std::string Run() {
    Keep(1, 64 * kMiB);
    for (int step = 0; step < options_.steps; ++step) {
      uint64_t size = options_.activation;
      if (options_.noise) size += random_() % kMiB;
      const AllocationId activation = Allocate(2, size), other = Allocate(3, 2 * kMiB);
      if (options_.evaluation > 0 && step % 25 == 20) Free(Allocate(5, options_.evaluation));
      if (options_.leak > 0) Keep(4, options_.leak);
      for (uint32_t stack = 9; options_.graph > 0 && stack <= 10; ++stack) Keep(stack, options_.graph * (stack - 8));
      for (uint32_t stack = 9; options_.two_lines > 0 && stack <= 10; ++stack) {
        Free(Allocate(stack, options_.two_lines * (stack - 8)));
      }
      // Either of two threads can be first.
      const bool swap = options_.noise && random_() % 2 == 0;
      Free(swap ? other : activation);
      Free(swap ? activation : other);
      Free(Allocate(6, 3 * kMiB));
      if ((step + 1) % options_.mark_every == 0)
        trace_.Step(0, ++time_, static_cast<uint64_t>(step), options_.step_size);
    }
    return trace_.Finish();
  }

 private:
  AllocationId Allocate(uint32_t stack, uint64_t bytes) {
    address_ += (bytes + 2 * kMiB - 1) / (2 * kMiB) * 2 * kMiB;
    return trace_.Allocate(0, ++time_, schema::DEVICE, 0, stack, address_, bytes);
  }
  void Keep(uint32_t stack, uint64_t bytes) { Allocate(stack, bytes); }
  void Free(AllocationId id) { trace_.Free(0, ++time_, schema::DEVICE, 0, id); }

  const JobOptions options_;
  std::mt19937 random_;
  TraceBuilder trace_;
  uint64_t time_ = 1000, address_ = 64 * kMiB;
};

inline JobOptions With(const std::function<void(JobOptions*)>& change) {
  JobOptions options;
  change(&options);
  return options;
}

}  // namespace vramtrack

#endif  // ANALYZER_DIFF_TESTING_TEST_JOB_H_
