// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_FRAGMENTATION_TORCH_ALLOCATOR_WHAT_IF_H_
#define ANALYZER_FRAGMENTATION_TORCH_ALLOCATOR_WHAT_IF_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
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
    // For each failure in the log, the largest request in bytes that would have succeeded; none if the failed one would
    // not have.
    std::vector<std::optional<uint64_t>> fits;
  };

  uint64_t blocks = 0;               // number of blocks that were followed
  uint64_t reserved_peak = 0;        // of the trace, while they were followed
  uint64_t model_reserved_peak = 0;  // of the model with the allocator's own settings
  uint64_t differences = 0;          // blocks after which the model and the trace had reserved different bytes
  std::vector<Trial> trials;
};

// Compares the log with a model of the allocator as it was. Fills in everything except the trials. `arenas`: what the
// replay found out that wrote the log.
WhatIf FollowAsItWas(const RequestLog& log, const Arenas& arenas, const Settings& as_it_was);

struct TrialLimits {
  // Returns whether a setting that reserves this many bytes may still be useful; called by several threads. A trial is
  // stopped if it may not, if it has failed, or if another one of its family reserved less, unless it may still show
  // what would have fitted. Empty: all trials run to the end.
  std::function<bool(uint64_t)> may_win;
  size_t threads = 1;
};

// Returns the trials, one for each knob in order. Those that can win do not depend on the number of threads.
std::vector<WhatIf::Trial> TryKnobs(const RequestLog& log, const Arenas& arenas, const std::vector<Knob>& knobs,
                                    const TrialLimits& limits);

}  // namespace vramtrack::torch_allocator

#endif  // ANALYZER_FRAGMENTATION_TORCH_ALLOCATOR_WHAT_IF_H_
