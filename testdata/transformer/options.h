// SPDX-License-Identifier: Apache-2.0
#ifndef TESTDATA_TRANSFORMER_OPTIONS_H_
#define TESTDATA_TRANSFORMER_OPTIONS_H_

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "testdata/transformer/config.h"
#include "testdata/transformer/leak_plan.h"

namespace transformer {

enum class Program { kTrain, kGenerate };

// What looks like a leak and is none.
enum class Control { kVariableLength, kLazyOptimizer, kBoundedCache, kFragmentation, kReusedWorkspace };

// "variable-length" and so on.
const char* ControlName(Control control);

struct Options {
  Config config;
  uint64_t steps = 60;
  uint64_t seed = 1;
  int device = 0;
  int64_t step_delay_us = 0;
  std::vector<Leak> leaks;
  uint64_t leak_every = 1;
  uint64_t leak_onset = 1;
  std::set<Control> controls;
  bool step_marks = true;
  bool teardown = false;
  bool check = false;
  bool verbose = false;
  bool help = false;

  bool control(Control which) const { return controls.count(which) > 0; }
};

// The leaks and controls that a program can show.
std::vector<Leak> LeaksOf(Program program);
std::vector<Control> ControlsOf(Program program);

const char* ProgramName(Program program);

// Reads the command line as getopt_long does. On a mistake the answer is false and `error` one line without the
// program's name. Not thread-safe.
bool ParseOptions(Program program, int argc, char* const* argv, Options* options, std::string* error);

// What --help prints.
std::string HelpText(Program program);

}  // namespace transformer

#endif  // TESTDATA_TRANSFORMER_OPTIONS_H_
