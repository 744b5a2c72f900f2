// SPDX-License-Identifier: Apache-2.0
#include "analyzer/torch_allocator/arenas.h"

#include <algorithm>
#include <deque>

namespace vramtrack::torch_allocator {

ArenaGuess::Segment ArenaGuess::Add(bool small) {
  segments_[next_].small = small;
  return next_++;
}

void ArenaGuess::NoteUnlike(Segment used, Segment passed, Rule rule) {
  if (unlike_.size() >= kMaxUnlike) return;
  if (!unlike_.insert({std::min(used, passed), std::max(used, passed), rule}).second) return;
  segments_.at(used).is_unlike = segments_.at(passed).is_unlike = true;
}

void ArenaGuess::OnGone(Segment segment) {
  const auto found = segments_.find(segment);
  if (found == segments_.end()) return;
  if (!found->second.is_unlike && !found->second.kept) segments_.erase(found);
}

void ArenaGuess::OnKept(uint64_t release, const std::vector<Segment>& kept) {
  for (const Segment segment : kept) segments_.at(segment).kept = true;
  if (kept_.empty() ? kept.empty() : std::prev(kept_.end())->second == kept) return;
  kept_[release] = kept;
}

// Colours the segments anew, with all that is known at the end: those that are unlike most others first.
Arenas ArenaGuess::Finish() const {
  Arenas arenas;
  arenas.oldest_first = against_lowest_ > against_oldest_;
  const Rule other_rule = arenas.oldest_first ? Rule::kLowest : Rule::kOldest;
  absl::flat_hash_map<Segment, std::vector<Segment>> unlike;
  for (const auto& [one, other, rule] : unlike_) {
    if (rule == other_rule) continue;
    unlike[one].push_back(other);
    unlike[other].push_back(one);
  }
  std::vector<std::pair<Segment, const State*>> order;
  for (const auto& [segment, state] : segments_) order.push_back({segment, &state});
  std::sort(order.begin(), order.end(), [&unlike](const auto& a, const auto& b) {
    const size_t of_a = unlike[a.first].size(), of_b = unlike[b.first].size();
    return of_a != of_b ? of_a > of_b : a.first < b.first;
  });
  struct Colour {
    bool kept = false;
    uint64_t uses = 0;
    uint32_t number = 0;  // of its arena
  };
  std::deque<Colour> colours[2];  // of large and of small segments
  absl::flat_hash_map<Segment, Colour*> colour_of;
  for (const auto& [segment, state] : order) {
    if (unlike[segment].empty() && !state->kept) continue;  // to the one that is used most
    std::set<const Colour*> taken;
    for (const Segment other : unlike[segment]) {
      if (const auto found = colour_of.find(other); found != colour_of.end()) taken.insert(found->second);
    }
    std::deque<Colour>& of_size = colours[state->small];
    auto colour = std::find_if(of_size.begin(), of_size.end(), [&, kept = state->kept](const Colour& one) {
      return one.kept == kept && taken.count(&one) == 0;
    });
    if (colour == of_size.end()) colour = of_size.insert(colour, {state->kept, 0, 0});
    colour->uses += state->uses;
    colour_of[segment] = &*colour;
  }
  // The arena that is used most is the first. Those that are left alone come last, and are never the first.
  const auto not_kept = [](const std::deque<Colour>& of_size) {
    return static_cast<uint32_t>(std::count_if(of_size.begin(), of_size.end(), [](auto& one) { return !one.kept; }));
  };
  const uint32_t first_kept = std::max({1u, not_kept(colours[0]), not_kept(colours[1])});
  for (std::deque<Colour>& of_size : colours) {
    std::vector<Colour*> ranked;
    for (Colour& colour : of_size) ranked.push_back(&colour);
    std::stable_sort(ranked.begin(), ranked.end(),
                     [](const Colour* a, const Colour* b) { return a->kept != b->kept ? b->kept : a->uses > b->uses; });
    uint32_t number = 0;
    for (Colour* const colour : ranked) {
      if (colour->kept) number = std::max(number, first_kept);
      colour->number = number++;
    }
    arenas.count = std::max(arenas.count, number);
  }
  const auto number = [&](Segment segment) -> uint32_t {
    const auto colour = colour_of.find(segment);
    return colour == colour_of.end() ? 0 : colour->second->number;
  };
  for (const auto& [segment, state] : order) {
    if (const uint32_t arena = number(segment); arena != 0) arenas.of_segment[segment] = arena;
  }
  for (const auto& [release, kept] : kept_) {
    std::set<uint32_t>& left_alone = arenas.kept_at_release[release];
    for (const Segment segment : kept) left_alone.insert(number(segment));
    left_alone.erase(0);  // never the arena of everything else
  }
  return arenas;
}

}  // namespace vramtrack::torch_allocator
