// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_FRAGMENTATION_TORCH_ALLOCATOR_KNOBS_H_
#define ANALYZER_FRAGMENTATION_TORCH_ALLOCATOR_KNOBS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/fragmentation/torch_allocator/settings.h"

namespace vramtrack::torch_allocator {

// A setting or a change of the program that a user can make.
struct Knob {
  enum class Family { kNone, kExpandable, kMaxSplit, kGarbageCollection, kRoundup, kEmptyCache, kPreallocate };
  static constexpr size_t kFamilies = static_cast<size_t>(Family::kPreallocate) + 1;
  Family family = Family::kNone;
  // In the syntax of PYTORCH_CUDA_ALLOC_CONF; or "empty_cache:N" for a call every N steps, or "preallocate:largest"
  // for a pass with the largest shape before all others.
  std::string setting;
  Settings settings;
  uint32_t empty_cache_every = 0;  // in steps; 0: as the program itself does
};

// Parses a setting; returns nothing if it is invalid. "" is the allocator's default.
std::optional<Knob> ParseKnob(const std::string& setting);

// The facts that decide which knobs are worth trying.
struct AllocatorFacts {
  bool expandable = false;
  uint64_t reserved_peak = 0;  // bytes
  uint64_t live_peak = 0;      // bytes that are needed at least
  uint64_t device_total = 0;   // bytes; 0: unknown
  bool has_steps = false;
  bool has_pass = false;  // the requests of the largest step are known
};

// Returns the knobs to try. The first is the allocator as it was in the run.
std::vector<Knob> KnobsToTry(const AllocatorFacts& facts);

}  // namespace vramtrack::torch_allocator

#endif  // ANALYZER_FRAGMENTATION_TORCH_ALLOCATOR_KNOBS_H_
