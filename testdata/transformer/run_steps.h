// SPDX-License-Identifier: Apache-2.0
#ifndef TESTDATA_TRANSFORMER_RUN_STEPS_H_
#define TESTDATA_TRANSFORMER_RUN_STEPS_H_

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>

#include "testdata/transformer/leak_plan.h"
#include "testdata/transformer/options.h"
#include "testdata/transformer/rehearsal.h"
#include "testdata/transformer/step_mark.h"

namespace transformer {

// Prints on `out` what the steps of a `Worker` will leak. Computes it in a rehearsal, without CUDA.
template <typename Worker>
void PrintPlantedLeaks(const Options& options, std::FILE* out) {
  if (options.leaks.empty() || options.leak_onset > options.steps) return;
  const Rehearsal rehearsal;
  // Every leaking step leaks the same, unless lengths vary or a cache hit avoids an upload. In that case print the
  // mean.
  const bool same = !options.control(Control::kVariableLength) && !options.control(Control::kBoundedCache) &&
                    !options.control(Control::kReusedWorkspace);
  if (same) {
    LeakPlan plan(options.leaks, /*every=*/1, /*onset=*/1);
    Worker worker(options, &plan);
    worker.Step(1);
    plan.Print(options.leak_every, out);
    return;
  }
  LeakPlan plan(options.leaks, options.leak_every, options.leak_onset);
  Worker worker(options, &plan);
  for (uint64_t step = 1; step <= options.steps; ++step) worker.Step(step);
  plan.Print(options.steps - options.leak_onset + 1, out);
}

// Runs all steps of `worker` and marks the end of each.
template <typename Worker>
void RunSteps(const Options& options, Worker* worker) {
  for (uint64_t step = 1; step <= options.steps; ++step) {
    worker->Step(step);
    if (options.step_marks) MarkStep(step, worker->tokens());
    if (options.verbose) worker->PrintStep(step);
    if (options.step_delay_us > 0)
      usleep(static_cast<useconds_t>(std::min<int64_t>(options.step_delay_us, 3'600'000'000)));
  }
}

}  // namespace transformer

#endif  // TESTDATA_TRANSFORMER_RUN_STEPS_H_
