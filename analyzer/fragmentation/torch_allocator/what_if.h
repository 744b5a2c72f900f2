// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_FRAGMENTATION_TORCH_ALLOCATOR_WHAT_IF_H_
#define ANALYZER_FRAGMENTATION_TORCH_ALLOCATOR_WHAT_IF_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "analyzer/fragmentation/torch_allocator/arenas.h"
#include "analyzer/fragmentation/torch_allocator/request_log.h"
#include "analyzer/fragmentation/torch_allocator/settings.h"

namespace vramtrack::torch_allocator {

struct WhatIf {
  struct Trial {
    Knob knob;
    uint64_t reserved_peak = 0, failures = 0;
    bool stopped = false;  // the trial could not win any more and was stopped; the figures are those until then
  };
  // A request that the allocator could not fulfil.
  struct Failure {
    uint64_t ticks = 0, requested = 0;
    struct Fit {
      std::string setting;
      uint64_t free_bytes = 0;  // the largest request that would have succeeded
    };
    std::vector<Fit> would_fit;
  };

  uint64_t blocks = 0;               // number of blocks that were followed
  uint64_t reserved_peak = 0;        // of the trace, while they were followed
  uint64_t model_reserved_peak = 0;  // of the model with the allocator's own settings
  uint64_t differences = 0;          // blocks after which the model and the trace had reserved different bytes
  // how often the allocator itself reported its reserved bytes, and how often the model differed
  uint64_t told = 0, told_differences = 0;
  std::vector<Trial> trials;
  std::vector<Failure> failures;
};

// The requests to one device, and what an earlier replay found out about it. All must outlive the calls below.
struct Requests {
  const RequestLog* log = nullptr;
  const Arenas* arenas = nullptr;
  const LargestPass* largest = nullptr;
};

// Compares the log with a model of the allocator as it was. Fills in everything except the trials and what would fit.
WhatIf FollowAsItWas(const Requests& requests, const Knob& as_it_was);

struct TrialLimits {
  // Returns whether a setting that reserves this many bytes may still be useful; called by several threads. A trial is
  // stopped if it may not, if it has failed, or if another one of its family reserved less, unless it may still show
  // what would have fitted. Empty: all trials run to the end.
  std::function<bool(uint64_t)> may_win;
  size_t threads = 1;
};

// Adds the trials, one for each knob in order, and what would fit. The trials that can win do not depend on the number
// of threads.
void TryKnobs(const Requests& requests, const std::vector<Knob>& knobs, const TrialLimits& limits, WhatIf* outcome);

}  // namespace vramtrack::torch_allocator

#endif  // ANALYZER_FRAGMENTATION_TORCH_ALLOCATOR_WHAT_IF_H_
