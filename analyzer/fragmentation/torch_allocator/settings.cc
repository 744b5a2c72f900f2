// SPDX-License-Identifier: Apache-2.0
#include "analyzer/fragmentation/torch_allocator/settings.h"

#include "absl/strings/str_cat.h"

namespace vramtrack::torch_allocator {

std::vector<Knob> KnobsToTry(const Settings& as_it_was, bool has_steps, bool has_pass) {
  std::vector<Knob> knobs;
  const auto add = [&](Knob::Family family, std::string setting) -> Knob& {
    return knobs.emplace_back(Knob{family, std::move(setting), as_it_was, 0});
  };
  if (!as_it_was.expandable_segments) {
    add(Knob::Family::kExpandable, "expandable_segments:True").settings.expandable_segments = true;
    for (const uint32_t divisions : {2, 4, 8}) {
      add(Knob::Family::kRoundup, absl::StrCat("roundup_power2_divisions:", divisions))
          .settings.roundup_power2_divisions = divisions;
    }
  }
  if (!has_steps) return knobs;
  for (const uint32_t steps : {1, 10}) {
    add(Knob::Family::kEmptyCache, absl::StrCat("empty_cache:", steps)).empty_cache_every = steps;
  }
  if (has_pass) add(Knob::Family::kPreallocate, "preallocate:largest");
  return knobs;
}

}  // namespace vramtrack::torch_allocator
