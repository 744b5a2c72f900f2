// SPDX-License-Identifier: Apache-2.0
//
// Traces for tests of comparisons.
#ifndef ANALYZER_DIFF_TESTING_TEST_JOB_H_
#define ANALYZER_DIFF_TESTING_TEST_JOB_H_

#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "proto/testing/job_builder.h"

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
  int sized_steps = INT32_MAX;  // the steps after that are ten times as large, by their marks
  bool noise = false;
  unsigned seed = 1;
};

class Job : JobBuilder {
 public:
  explicit Job(const JobOptions& options)
      : JobBuilder({{"python", "train.py"}, options.rank, 77}), options_(options), random_(options.seed) {
    Device(4096 * kMiB);
    const char* file = options_.file.c_str();
    for (uint32_t i = 1; i <= 8; ++i) names_.push_back("function" + std::to_string(i) + options.suffix);
    const auto line = [&](uint32_t i) { return PythonLine{names_[i - 1].c_str(), 10 * i + options.line_shift, file}; };
    for (uint32_t i = 1; i <= 8; ++i) DefinePython(i, {line(i), line(8)});
    for (uint32_t i = 0; i < 2; ++i) DefinePython(9 + i, {{"function9", 90 + 5 * i, file}, line(7), line(8)});
  }

  std::string Run() {
    Allocate(1, 64 * kMiB);
    for (int step = 0; step < options_.steps; ++step) {
      uint64_t size = options_.activation;
      if (options_.noise) size += random_() % kMiB;
      const JobObject activation = Allocate(2, size), other = Allocate(3, 2 * kMiB);
      if (options_.evaluation > 0 && step % 25 == 20) Free(Allocate(5, options_.evaluation));
      if (options_.leak > 0) Allocate(4, options_.leak);
      for (uint32_t stack = 9; options_.graph > 0 && stack <= 10; ++stack)
        Allocate(stack, options_.graph * (stack - 8));
      for (uint32_t stack = 9; options_.two_lines > 0 && stack <= 10; ++stack) {
        Free(Allocate(stack, options_.two_lines * (stack - 8)));
      }
      // Either of two threads can be first.
      const bool swap = options_.noise && random_() % 2 == 0;
      Free(swap ? other : activation);
      Free(swap ? activation : other);
      Free(Allocate(6, 3 * kMiB));
      NumberSteps(static_cast<uint64_t>(step));
      if ((step + 1) % options_.mark_every == 0) EndStep(options_.step_size * (step < options_.sized_steps ? 1 : 10));
    }
    return Finish();
  }

 private:
  const JobOptions options_;
  std::mt19937 random_;
  std::vector<std::string> names_;
};

inline JobOptions With(const std::function<void(JobOptions*)>& change) {
  JobOptions options;
  change(&options);
  return options;
}

}  // namespace vramtrack

#endif  // ANALYZER_DIFF_TESTING_TEST_JOB_H_
