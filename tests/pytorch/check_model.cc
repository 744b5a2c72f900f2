// SPDX-License-Identifier: Apache-2.0
//
// usage: check_model TRACE [SETTING]...
// Holds the model of the allocator against a trace, block by block, and says as JSON what it would have reserved with
// each SETTING (as in PYTORCH_CUDA_ALLOC_CONF). A SETTING in front of which is "as:" is what the trace was taken with.
#include <cstdio>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "analyzer/findings/core/step_plan.h"
#include "analyzer/fragmentation/torch_allocator/peak_segments.h"
#include "analyzer/fragmentation/torch_allocator/what_if.h"
#include "analyzer/ingest/trace.h"
#include "analyzer/ledger/ledger.h"

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
    if (scope.level == Level::kFramework) segments.Record(scope.device, first.DeviceBytes(scope.device));
  }
  options.observers = {&segments};
  Ledger second(**trace, plan, options);
  second.Replay();
  const std::map<DeviceIndex, Arenas> arenas = segments.Learnt();
  const auto maps = segments.Finish();

  // Where blocks lay elsewhere than the rules say, with what was learnt.
  FrameworkObserver known(&arenas);
  options.observers = {&known};
  Ledger third(**trace, plan, options);
  third.Replay();

  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  for (const auto& [device, map] : maps) {
    Knob as_it_was;
    as_it_was.settings.expandable_segments = map.expandable;
    std::vector<Knob> knobs;
    for (int i = 2; i < argc; ++i) {
      std::string setting = argv[i];
      const bool real = setting.rfind("as:", 0) == 0;
      const std::optional<Knob> knob = ParseKnob(real ? setting.substr(3) : setting);
      if (!knob) {
        std::fprintf(stderr, "%s is no setting\n", argv[i]);
        return 2;
      }
      if (real) {
        as_it_was = *knob;
        // Sizes in the trace are rounded already.
        as_it_was.settings.roundup_power2_divisions = 0;
      } else {
        knobs.push_back(*knob);
      }
    }
    as_it_was.settings.oldest_first = arenas.at(device).oldest_first;
    for (Knob& knob : knobs) knob.settings.oldest_first = arenas.at(device).oldest_first;
    const Requests requests = {&*map.requests, &arenas.at(device), &map.largest_pass};
    WhatIf outcome = FollowAsItWas(requests, as_it_was);
    TryKnobs(requests, knobs, {}, &outcome);
    nlohmann::ordered_json one;
    one["device"] = device.value();
    one["blocks"] = outcome.blocks;
    one["arenas"] = arenas.at(device).count;
    one["oldest_first"] = arenas.at(device).oldest_first;
    one["surprises"] = known.Surprises(device);
    one["differences"] = outcome.differences;
    one["told"] = outcome.told;
    one["told_differences"] = outcome.told_differences;
    one["reserved_peak"] = outcome.reserved_peak;
    one["model_reserved_peak"] = outcome.model_reserved_peak;
    for (const WhatIf::Trial& trial : outcome.trials) {
      one["trials"][trial.knob.setting] = {{"reserved_peak", trial.reserved_peak}, {"failures", trial.failures}};
    }
    for (const WhatIf::Failure& failure : outcome.failures) {
      nlohmann::ordered_json failed;
      failed["requested"] = failure.requested;
      for (const auto& fit : failure.would_fit) failed["would_fit"][fit.setting] = fit.free_bytes;
      one["failures"].push_back(failed);
    }
    json.push_back(one);
  }
  std::printf("%s\n", json.dump(1).c_str());
  return 0;
}

}  // namespace
}  // namespace vramtrack::torch_allocator

int main(int argc, char** argv) { return vramtrack::torch_allocator::Main(argc, argv); }
