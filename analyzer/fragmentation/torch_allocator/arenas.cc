// SPDX-License-Identifier: Apache-2.0
#include "analyzer/fragmentation/torch_allocator/arenas.h"

#include <algorithm>

namespace vramtrack::torch_allocator {

ArenaGuess::Segment ArenaGuess::Add(bool small) {
  segments_[next_].small = small;
  return next_++;
}

void ArenaGuess::NoteUnlike(Segment used, Segment passed, Rule rule) {
  if (unlike_.size() >= kMaxUnlike) return;
  if (used < kNotedSegments && passed < kNotedSegments) {
    std::vector<bool>& noted = noted_[static_cast<size_t>(rule)];
    noted.resize(size_t{kNotedSegments} * kNotedSegments);
    noted[used * kNotedSegments + passed] = true;
  }
  if (!unlike_.insert({std::min(used, passed), std::max(used, passed), rule}).second) return;
  segments_.at(used).unlike.push_back({passed, rule});
  segments_.at(passed).unlike.push_back({used, rule});
}

void ArenaGuess::OnGone(Segment segment) {
  const auto found = segments_.find(segment);
  if (found == segments_.end()) return;
  if (found->second.unlike.empty() && !found->second.kept) segments_.erase(found);
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
  for (const auto& [segment, state] : segments_) {
    for (const auto& [other, rule] : state.unlike) {
      if (rule != other_rule) unlike[segment].push_back(other);
    }
  }
  std::vector<std::pair<Segment, const State*>> order;
  for (const auto& [segment, state] : segments_) order.push_back({segment, &state});
  std::sort(order.begin(), order.end(), [&unlike](const auto& a, const auto& b) {
    const size_t of_a = unlike[a.first].size(), of_b = unlike[b.first].size();
    return of_a != of_b ? of_a > of_b : a.first < b.first;
  });
  absl::flat_hash_map<Segment, uint32_t> colours;
  // Of small and of large ones, by colour.
  std::map<std::pair<bool, uint32_t>, uint64_t> uses;
  std::map<std::pair<bool, uint32_t>, bool> are_kept;
  for (const auto& [segment, state] : order) {
    std::set<uint32_t> taken;
    for (const Segment other : unlike[segment]) {
      const auto found = colours.find(other);
      if (found != colours.end()) taken.insert(found->second);
    }
    uint32_t colour = 0;
    if (unlike[segment].empty() && !state->kept) continue;  // to the one that is used most
    while (taken.count(colour) != 0 ||
           are_kept.try_emplace({state->small, colour}, state->kept).first->second != state->kept) {
      ++colour;
    }
    colours[segment] = colour;
    uses[{state->small, colour}] += state->uses;
    arenas.count = std::max(arenas.count, colour + 1);
  }
  // The arena that is used most is the first.
  std::map<std::pair<bool, uint32_t>, uint32_t> numbers;
  uint32_t most = 1;
  for (const bool small : {false, true}) {
    std::vector<std::pair<uint64_t, uint32_t>> ranked;
    for (uint32_t colour = 0; colour < arenas.count; ++colour) {
      const auto found = uses.find({small, colour});
      const auto kept = are_kept.find({small, colour});
      if (kept != are_kept.end() && kept->second) continue;
      ranked.push_back({found == uses.end() ? 0 : found->second, colour});
    }
    std::stable_sort(ranked.begin(), ranked.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
    uint32_t number = 0;
    for (const auto& [used, colour] : ranked) numbers[{small, colour}] = number++;
    // Those that are left alone come last, and are never the first.
    number = std::max<uint32_t>(number, 1);
    for (uint32_t colour = 0; colour < arenas.count; ++colour) {
      if (numbers.try_emplace({small, colour}, number).second) ++number;
    }
    most = std::max(most, number);
  }
  const auto number = [&](Segment segment) -> uint32_t {
    const auto colour = colours.find(segment);
    return colour == colours.end() ? 0 : numbers.at({segments_.at(segment).small, colour->second});
  };
  arenas.count = most;
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
