// SPDX-License-Identifier: Apache-2.0
//
// A hazard: a program that does something which could trouble a tracer, or which a tracer could trouble. It runs
// untraced and traced; both must look the same from outside, and the trace must be right.
#ifndef TESTS_HAZARDS_HAZARD_H_
#define TESTS_HAZARDS_HAZARD_H_

#include <ostream>
#include <string>
#include <vector>

#include "tests/preload/traced_run.h"

namespace vramtrack {

// What the traces of all processes of a run hold together.
struct Expected {
  static constexpr uint64_t kAny = UINT64_MAX;

  uint64_t processes = 1;  // that called CUDA: one trace each
  uint64_t finished = 1;   // of these, those that ended normally
  uint64_t allocations = 0, frees = 0;
  uint64_t failures = 0, unknown_frees = 0;
  uint64_t live = 0;   // allocations that were not freed
  uint64_t lost = 0;   // events that the trace itself says are missing
  uint64_t lines = 0;  // on stderr, of the tracer
};

struct Hazard {
  std::string name;
  std::string program;
  std::vector<std::string> arguments;
  Expected expected;
  RunOptions options = {};
  bool may_crash = false;  // untraced as well, now and then: where one of the two did, both run again
};

inline std::ostream& operator<<(std::ostream& out, const Hazard& hazard) { return out << hazard.name; }

// Runs the program both ways and checks all of the above. A program that ends with 77 in both could not do its thing on
// this machine: the test is skipped with what it printed. Returns the traced run.
RunResult ExpectUnharmed(const Hazard& hazard);

// The same, where the untraced run is known to be as `plain`.
void ExpectSame(const RunResult& plain, const RunResult& traced, const Expected& expected);

// The totals of the run's traces, as far as `expected` names them; every one of them must be whole.
void ExpectTraces(const RunResult& traced, const Expected& expected);

// The absolute path of something that the BUILD file names relative to the runfiles.
std::string DataPath(const std::string& relative);

// A new empty folder of this test.
std::string NewTestFolder();

}  // namespace vramtrack

#endif  // TESTS_HAZARDS_HAZARD_H_
