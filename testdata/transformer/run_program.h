// SPDX-License-Identifier: Apache-2.0
#ifndef TESTDATA_TRANSFORMER_RUN_PROGRAM_H_
#define TESTDATA_TRANSFORMER_RUN_PROGRAM_H_

#include <cstdio>
#include <string>

#include "testdata/transformer/device.h"
#include "testdata/transformer/run_steps.h"

namespace transformer {

// The main function of a program whose steps a `Worker` runs. `check` compares results with a reference, prints the
// result and returns the number of mismatches. Returns the exit status.
template <typename Worker>
int RunProgram(Program program, int (*check)(std::FILE* out), int argc, char** argv) {
  const char* const name = ProgramName(program);
  Options options;
  std::string error;
  if (!ParseOptions(program, argc, argv, &options, &error)) {
    std::fprintf(stderr, "%s: %s (see --help)\n", name, error.c_str());
    return kExitUsage;
  }
  if (options.help) {
    std::fputs(HelpText(program).c_str(), stdout);
    return 0;
  }
  if (const int status = SelectDevice(name, options.device, options.verbose)) return status;
  if (options.check) return check(stdout) == 0 ? 0 : 1;

  PrintPlantedLeaks<Worker>(options, stderr);
  // Without --teardown the memory is freed when the process ends, as in most programs. The static variables keep it
  // reachable until then.
  static LeakPlan plan(options.leaks, options.leak_every, options.leak_onset);
  static Worker* const worker = new Worker(options, &plan);
  RunSteps(options, worker);
  worker->PrintSummary();
  if (options.teardown) delete worker;
  return 0;
}

}  // namespace transformer

#endif  // TESTDATA_TRANSFORMER_RUN_PROGRAM_H_
