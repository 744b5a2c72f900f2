// SPDX-License-Identifier: Apache-2.0
#include "tests/corpus/time_to_oom.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "analyzer/findings/find_in_process.h"
#include "analyzer/ingest/trace.h"
#include "analyzer/job/job_findings.h"
#include "analyzer/ledger/kind.h"
#include "analyzer/model/process_findings.h"
#include "tests/corpus/step_accuracy.h"
#include "tests/corpus/suites.h"

namespace vramtrack::corpus {
namespace {

// A leak that takes less of the device by the end of the trace drowns in what the work takes now more and now less.
constexpr double kShareOfDevice = .1;

}  // namespace

double OomScore::error() const { return foretold ? std::abs(*foretold - true_steps) / true_steps : 0; }

std::optional<OomScore> ScoreTimeToOom(const RunSpec& spec) {
  const auto steps = static_cast<size_t>(spec.options.steps);
  RunSpec longer = spec;
  longer.options.steps *= 3;
  const Emulation whole = Emulate(longer.shape, longer.flows, longer.options);
  const std::vector<uint64_t>& reserved = whole.reserved_by_step;
  const uint64_t size = *std::max_element(reserved.begin(), reserved.begin() + static_cast<std::ptrdiff_t>(2 * steps));
  const auto full = std::find_if(reserved.begin(), reserved.end(), [&](uint64_t taken) { return taken > size; });
  if (full == reserved.end()) return std::nullopt;

  RunSpec half = spec;
  half.options.device_bytes = size;
  const Emulation run = Emulate(half.shape, half.flows, half.options);
  if (run.truth.bytes_per_step() * static_cast<double>(steps) < kShareOfDevice * static_cast<double>(size)) {
    return std::nullopt;
  }
  OomScore score;
  score.true_steps = static_cast<double>(full - reserved.begin()) - static_cast<double>(steps);
  const auto trace = Trace::Read(run.trace, spec.id);
  if (!trace.ok()) {
    score.refused = std::string(trace.status().message());
    return score;
  }
  const StepAccuracy accuracy = MeasureSteps(**trace, run.step_ends, run.micro_steps);
  std::vector<ProcessFindings> processes;
  processes.push_back(FindInProcess(**trace, {}));
  const Report report = JoinFindings(std::move(processes));
  if (report.devices.empty() || !report.devices[0].growth_of) {
    score.refused = "too few steps";
    return score;
  }
  const ReportGrowth& growth = report.devices[0].growth_of->device_used;
  score.refused = growth.refused;
  if (!growth.steps_to_oom) return score;
  score.foretold = *growth.steps_to_oom / accuracy.unit;
  score.low = growth.steps_to_oom_low / accuracy.unit;
  score.high = growth.steps_to_oom_high / accuracy.unit;
  score.covered = score.low <= score.true_steps + 1 && score.true_steps - 1 <= score.high;
  return score;
}

std::vector<RunSpec> OomRuns(const std::vector<int>& steps, int seeds) {
  Selection selection;
  selection.steps = steps;
  selection.seeds = seeds;
  std::vector<RunSpec> runs;
  for (RunSpec& run : CaseRuns(selection)) {
    const bool fits = std::any_of(run.flows.begin(), run.flows.end(), [](const Flow& flow) {
      return flow.leaks && flow.family < 0 && !IsHostMemory(flow.kind) && !IsForeignMemory(flow.kind) &&
             LevelOf(flow.kind) != Level::kHandle;
    });
    if (!fits) continue;
    // With batches of random lengths the step in which the device is full is one of the longest batch, and so random.
    run.shape.length_spread = 0;
    runs.push_back(std::move(run));
  }
  return runs;
}

}  // namespace vramtrack::corpus
