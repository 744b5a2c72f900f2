// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_FRAGMENTATION_TORCH_ALLOCATOR_WHAT_IF_H_
#define ANALYZER_FRAGMENTATION_TORCH_ALLOCATOR_WHAT_IF_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "analyzer/fragmentation/torch_allocator/arenas.h"
#include "analyzer/fragmentation/torch_allocator/knobs.h"
#include "analyzer/fragmentation/torch_allocator/largest_pass.h"
#include "analyzer/fragmentation/torch_allocator/request_log.h"

namespace vramtrack::torch_allocator {

struct WhatIf {
  struct Trial {
    Knob knob;
    uint64_t reserved_peak = 0, failures = 0;
    bool stopped = false;  // it could not win any more: the figures are those until then
  };
  // A request that the allocator could not fulfil.
  struct Failure {
    uint64_t ticks = 0, requested = 0;
    struct Fit {
      std::string setting;
      uint64_t free_bytes = 0;  // the most that could have been asked for
    };
    std::vector<Fit> would_fit;
  };

  uint64_t blocks = 0;                      // that were followed
  uint64_t reserved_peak = 0;               // of the trace, while they were
  uint64_t model_reserved_peak = 0;         // of the model of the allocator as it was
  uint64_t differences = 0;                 // blocks after which that model had reserved more or less than the trace
  uint64_t told = 0, told_differences = 0;  // the same, of the times that the allocator itself told
  std::vector<Trial> trials;
  std::vector<Failure> failures;
};

// What one device was asked for, and what has been learnt of it. All must outlive the calls below.
struct Requests {
  const RequestLog* log = nullptr;
  const Arenas* arenas = nullptr;
  const LargestPass* largest = nullptr;
};

// Holds the log against a model of the allocator as it was: all of the result but the trials, and what would fit.
WhatIf FollowAsItWas(const Requests& requests, const Knob& as_it_was);

struct TrialLimits {
  // Whether a setting that reserves so much may still be of use; called by several threads. A trial is stopped where it
  // is not, where it has failed, or where another one of its family reserved less, unless it may still tell what would
  // have fitted. Empty: all are followed to their ends.
  std::function<bool(uint64_t)> may_win;
  size_t threads = 1;
};

// Adds the trials, one for each knob, in order, and what would fit. The trials that can win are the same whatever the
// number of threads.
void TryKnobs(const Requests& requests, const std::vector<Knob>& knobs, const TrialLimits& limits, WhatIf* outcome);

}  // namespace vramtrack::torch_allocator

#endif  // ANALYZER_FRAGMENTATION_TORCH_ALLOCATOR_WHAT_IF_H_
