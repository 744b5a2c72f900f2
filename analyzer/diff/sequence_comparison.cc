// SPDX-License-Identifier: Apache-2.0
#include "analyzer/diff/sequence_comparison.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace vramtrack {
namespace {

DiffDivergence FindDivergence(const ComparedPair& pair, EventSource* base, EventSource* next) {
  const std::pair<uint64_t, uint64_t> within = EventSequence::PartsWithin(base->sequence(), next->sequence());
  const uint64_t begin = within.first, end = within.second;
  std::vector<SequenceEvent> old, now;
  DoBoth(
      pair.threads, [&] { old = base->Part(begin, end); }, [&] { now = next->Part(begin, end); });
  size_t same = 0;
  while (same < old.size() && same < now.size() && old[same].word == now[same].word) ++same;
  DiffDivergence divergence;
  divergence.event = begin + same;
  divergence.rank = pair.next.facts().process.rank;
  if (same < old.size()) divergence.base_frames = base->FramesOf(old[same].site);
  if (same < now.size()) divergence.new_frames = next->FramesOf(now[same].site);
  return divergence;
}

bool IsWhole(const StepProfile& profile) { return profile.ordered && profile.other_sites == 0; }

// Sites are numbered as they first allocate: with the same numbers on both sides the same numbers happened.
bool NumberedAlike(const ComparedPair& pair, const StepProfile& base, const StepProfile& next) {
  if (base.sites_hash == next.sites_hash) return true;
  const std::vector<SiteMatch>& matches = pair.matches();
  return IsWhole(base) && IsWhole(next) && std::all_of(matches.begin(), matches.end(), [&](const SiteMatch& match) {
           return match.base.size() == 1 && match.next.size() == 1 &&
                  base.sites[match.base[0]].number == next.sites[match.next[0]].number;
         });
}

bool SameOfEachSite(const ComparedPair& pair, const StepProfile& base, const StepProfile& next) {
  if (!IsWhole(base) || !IsWhole(next)) return false;
  const auto sum = [](const StepProfile& profile, const std::vector<size_t>& members) {
    std::pair<uint64_t, uint64_t> events;
    for (const size_t i : members) {
      events.first += profile.sites[i].events;
      events.second += profile.sites[i].event_sum;
    }
    return events;
  };
  const std::vector<SiteMatch>& matches = pair.matches();
  return std::all_of(matches.begin(), matches.end(),
                     [&](const SiteMatch& match) { return sum(base, match.base) == sum(next, match.next); });
}

// Where they part is not known.
void CompareDigests(const ComparedPair& pair, const StepProfile& base, const StepProfile& next, DiffReport* report) {
  if (!base.ordered || !next.ordered) return;
  report->events = next.events;
  if (base.events != next.events) return;
  report->identical = base.event_hash == next.event_hash && NumberedAlike(pair, base, next);
  report->reordered = !report->identical && SameOfEachSite(pair, base, next);
}

}  // namespace

void CompareSequences(const ComparedPair& pair, DiffReport* report) {
  const StepProfile *base_sums = pair.base.sums(), *next_sums = pair.next.sums();
  if (base_sums != nullptr && next_sums != nullptr) return CompareDigests(pair, *base_sums, *next_sums, report);
  EventSource *base = pair.base.events(), *next = pair.next.events();
  if (base == nullptr || next == nullptr) return;
  report->events = next->sequence().count();
  report->identical = base->sequence().SameAs(next->sequence());
  report->reordered = !report->identical && base->sequence().SameEventsAs(next->sequence());
  if (!report->identical) report->first_divergence = FindDivergence(pair, base, next);
}

}  // namespace vramtrack
