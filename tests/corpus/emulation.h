// SPDX-License-Identifier: Apache-2.0
//
// One run of one case: its trace, and what is true of it.
#ifndef TESTS_CORPUS_EMULATION_H_
#define TESTS_CORPUS_EMULATION_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tests/corpus/flow.h"
#include "tests/corpus/job_stream.h"

namespace vramtrack::corpus {

constexpr uint64_t kDeviceBytes = 80 * kGiB;

struct RunOptions {
  int steps = 200;
  uint64_t seed = 0;
  Marking marking = Marking::kMarks;
  uint64_t device_bytes = kDeviceBytes;
  Naming naming;        // its scramble is added to the seed
  uint64_t chance = 0;  // another number: the same job on another day
};

struct TrueLeak {
  uint32_t site = 0;  // in Emulation::sites
  double bytes_per_step = 0, objects_per_step = 0;
  bool exact = false;  // the same in every step, or period of steps: the rate has no randomness to it
};

struct Truth {
  std::vector<TrueLeak> leaks;    // the largest first
  int onset = 0;                  // the first step that leaks
  std::vector<uint32_t> watched;  // sites whose verdict should be one of the case's
  double bytes_per_step() const;
};

struct Emulation {
  std::string trace;
  Truth truth;
  std::vector<SiteRecord> sites;
  std::vector<uint64_t> step_ends;  // times in ns
  int micro_steps = 1;
  uint64_t events = 0;
  std::vector<uint64_t> reserved_by_step;  // device memory taken from the driver, the most in each step
};

// The work that the seed draws, and these flows beside it. The same options give the same bytes; the first steps of a
// longer run are those of a shorter one, unless a flow refers to shares of the run.
Emulation Emulate(const JobShape& shape, const std::vector<Flow>& flows, const RunOptions& options);

}  // namespace vramtrack::corpus

#endif  // TESTS_CORPUS_EMULATION_H_
