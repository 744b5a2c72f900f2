// SPDX-License-Identifier: Apache-2.0
#include "analyzer/fragmentation/torch_allocator/settings.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"

namespace vramtrack::torch_allocator {
namespace {

constexpr uint64_t kMiB = 1 << 20;
// PyTorch refuses to leave blocks unsplit that are smaller than the segments it packs requests into.
constexpr uint64_t kLeastMaxSplitMb = 20;

}  // namespace

std::optional<Knob> ParseKnob(const std::string& setting) {
  Knob knob;
  knob.setting = setting;
  for (const absl::string_view part : absl::StrSplit(setting, ',', absl::SkipEmpty())) {
    const std::vector<std::string> pair = absl::StrSplit(part, absl::MaxSplits(':', 1));
    if (pair.size() != 2) return std::nullopt;
    uint64_t number = 0;
    const bool is_number = absl::SimpleAtoi(pair[1], &number);
    if (pair[0] == "expandable_segments" && (pair[1] == "True" || pair[1] == "False")) {
      knob.family = Knob::Family::kExpandable;
      knob.settings.expandable_segments = pair[1] == "True";
    } else if (pair[0] == "max_split_size_mb" && is_number && number > kLeastMaxSplitMb) {
      knob.family = Knob::Family::kMaxSplit;
      knob.settings.max_split_bytes = number * kMiB;
    } else if (pair[0] == "garbage_collection_threshold" &&
               absl::SimpleAtod(pair[1], &knob.settings.garbage_collection_threshold)) {
      knob.family = Knob::Family::kGarbageCollection;
    } else if (pair[0] == "per_process_memory_fraction" && (is_number || pair[1] == "1.0")) {
      // Without a limit nothing is collected.
    } else if (pair[0] == "roundup_power2_divisions" && is_number && number <= 64 && (number & (number - 1)) == 0) {
      knob.family = Knob::Family::kRoundup;
      knob.settings.roundup_power2_divisions = static_cast<uint32_t>(number);
    } else if (pair[0] == "empty_cache" && is_number && number > 0 && number <= UINT32_MAX) {
      knob.family = Knob::Family::kEmptyCache;
      knob.empty_cache_every = static_cast<uint32_t>(number);
    } else if (pair[0] == "preallocate" && pair[1] == "largest") {
      knob.family = Knob::Family::kPreallocate;
    } else {
      return std::nullopt;
    }
  }
  return knob;
}

std::vector<Knob> KnobsToTry(const AllocatorFacts& facts) {
  std::vector<std::string> settings;
  if (!facts.expandable) {
    settings.push_back("expandable_segments:True");
    for (const uint64_t mb : {32, 64, 128, 256, 512}) {
      if (mb * kMiB < facts.reserved_peak / 2) settings.push_back(absl::StrCat("max_split_size_mb:", mb));
    }
    for (const int divisions : {2, 4, 8}) settings.push_back(absl::StrCat("roundup_power2_divisions:", divisions));
    // Little above what is needed, in twentieths of the device.
    if (facts.device_total > 0) {
      const auto total = static_cast<double>(facts.device_total), reserved = static_cast<double>(facts.reserved_peak);
      const double share = std::ceil(static_cast<double>(facts.live_peak) / total * 20 * 1.02) / 20;
      if (share >= 0.05 && share < 1 && share * total < reserved) {
        settings.push_back(absl::StrFormat("per_process_memory_fraction:1.0,garbage_collection_threshold:%.2f", share));
      }
    }
  }
  if (facts.has_steps) {
    for (const int steps : {1, 10}) settings.push_back(absl::StrCat("empty_cache:", steps));
  }
  if (facts.has_steps && facts.has_pass) settings.push_back("preallocate:largest");
  Knob as_it_was;
  as_it_was.settings.expandable_segments = facts.expandable;
  std::vector<Knob> knobs = {as_it_was};
  for (const std::string& setting : settings) {
    Knob knob = *ParseKnob(setting);
    const bool is_setting = knob.family != Knob::Family::kEmptyCache && knob.family != Knob::Family::kPreallocate;
    if (!is_setting) knob.settings = as_it_was.settings;
    knobs.push_back(std::move(knob));
  }
  return knobs;
}

}  // namespace vramtrack::torch_allocator
