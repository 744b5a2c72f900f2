// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_TORCH_ALLOCATOR_WHAT_IF_H_
#define ANALYZER_TORCH_ALLOCATOR_WHAT_IF_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/torch_allocator/arenas.h"
#include "analyzer/torch_allocator/request_log.h"
#include "analyzer/torch_allocator/settings.h"

namespace vramtrack::torch_allocator {

// A setting or a change of the program that a user can make.
struct Knob {
  enum class Family { kNone, kExpandable, kRoundup, kEmptyCache, kPreallocate };
  Family family = Family::kNone;
  // In the syntax of PYTORCH_CUDA_ALLOC_CONF; or "empty_cache:N" for a call every N steps, or "preallocate:largest"
  // for a pass with the largest shape before all others.
  std::string setting;
  Settings settings;
  uint32_t empty_cache_every = 0;  // in steps; 0: as the program itself does
};

// Returns the knobs to try on an allocator with these settings. `has_steps`: the log has the ends of steps.
// `has_pass`: it has the requests of the largest step.
std::vector<Knob> KnobsToTry(const Settings& as_it_was, bool has_steps, bool has_pass);

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

// Returns whether a setting that reserves this many bytes may still be useful; called by several threads.
using MayWin = std::function<bool(uint64_t)>;

// Returns the trials, one for each knob in order. A trial is stopped if it may not win, or if it has failed, unless it
// may still show what would have fitted. With an empty `may_win` all trials run to the end. The result does not depend
// on the number of threads.
std::vector<WhatIf::Trial> TryKnobs(const RequestLog& log, const Arenas& arenas, const std::vector<Knob>& knobs,
                                    const MayWin& may_win, size_t threads);

}  // namespace vramtrack::torch_allocator

#endif  // ANALYZER_TORCH_ALLOCATOR_WHAT_IF_H_
