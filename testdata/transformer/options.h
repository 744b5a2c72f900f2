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

// Behaviour that looks like a leak but is not.
enum class Control { kVariableLength, kLazyOptimizer, kBoundedCache, kFragmentation, kReusedWorkspace };

// Returns the name for the command line, such as "variable-length".
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

// Return the leaks and controls that a program supports.
std::vector<Leak> LeaksOf(Program program);
std::vector<Control> ControlsOf(Program program);

const char* ProgramName(Program program);

// Parses the command line with getopt_long. On an error returns false and sets `error` to one line without the
// program's name. Not thread-safe.
bool ParseOptions(Program program, int argc, char* const* argv, Options* options, std::string* error);

// Returns the text of --help.
std::string HelpText(Program program);

}  // namespace transformer

#endif  // TESTDATA_TRANSFORMER_OPTIONS_H_
