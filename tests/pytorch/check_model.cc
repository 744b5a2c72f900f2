// SPDX-License-Identifier: Apache-2.0
//
// usage: check_model TRACE [SETTING]...
// Compares the model of the allocator with a trace, block by block, and says as JSON what it would have reserved with
// each SETTING (as in PYTORCH_CUDA_ALLOC_CONF).
#include <algorithm>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "analyzer/findings/core/step_plan.h"
#include "analyzer/ingest/trace.h"
#include "analyzer/ledger/ledger.h"
#include "analyzer/torch_allocator/peak_segments.h"
#include "analyzer/torch_allocator/what_if.h"

namespace vramtrack::torch_allocator {
namespace {

int Main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: check_model TRACE [SETTING]...\n");
    return 2;
  }
  absl::StatusOr<std::unique_ptr<Trace>> trace = Trace::Open(argv[1]);
  if (!trace.ok()) {
    std::fprintf(stderr, "%s\n", std::string(trace.status().message()).c_str());
    return 2;
  }
  const StepPlan plan = PlanSteps(**trace);
  Ledger first(**trace, plan);
  first.Replay();

  LedgerOptions options;
  PeakSegments segments(first, {});
  for (const Scope& scope : first.scopes()) {
    if (scope.level != Level::kFramework) continue;
    segments.Record(scope.device, first.DeviceBytes(scope.device), /*failed=*/true);  // all of them
  }
  options.observers = {&segments};
  Ledger second(**trace, plan, options);
  second.Replay();

  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  for (const auto& [device, found] : segments.Finish()) {
    const RequestLog& log = *found.requests;
    Settings as_it_was;
    as_it_was.expandable_segments = found.expandable;
    std::vector<Knob> knobs;
    for (int i = 2; i < argc; ++i) {
      const std::string setting = argv[i];
      const std::vector<Knob> all = KnobsToTry({}, /*has_steps=*/true, log.pass_begin() < log.pass_end());
      const auto knob = std::find_if(all.begin(), all.end(), [&](const Knob& one) { return one.setting == setting; });
      if (knob == all.end()) {
        std::fprintf(stderr, "%s is no setting\n", argv[i]);
        return 2;
      }
      knobs.push_back(*knob);
    }
    const WhatIf outcome = FollowAsItWas(log, found.arenas, as_it_was);
    const std::vector<WhatIf::Trial> trials = TryKnobs(log, found.arenas, knobs, nullptr, 1);
    nlohmann::ordered_json one;
    one["device"] = device.value();
    one["blocks"] = outcome.blocks;
    one["arenas"] = found.arenas.count;
    one["oldest_first"] = found.arenas.oldest_first;
    one["differences"] = outcome.differences;
    one["reserved_peak"] = outcome.reserved_peak;
    one["model_reserved_peak"] = outcome.model_reserved_peak;
    for (const WhatIf::Trial& trial : trials) {
      one["trials"][trial.knob.setting] = {{"reserved_peak", trial.reserved_peak}, {"failures", trial.failures}};
    }
    json.push_back(one);
  }
  std::printf("%s\n", json.dump(1).c_str());
  return 0;
}

}  // namespace
}  // namespace vramtrack::torch_allocator

int main(int argc, char** argv) { return vramtrack::torch_allocator::Main(argc, argv); }
