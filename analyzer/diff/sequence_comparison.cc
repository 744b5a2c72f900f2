// SPDX-License-Identifier: Apache-2.0
#include "analyzer/diff/change_findings.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace vramtrack {
namespace {

DiffDivergence FindDivergence(const ComparedPair& pair) {
  const ComparedProcess &base = pair.base, &next = pair.next;
  const std::pair<uint64_t, uint64_t> within = EventSequence::PartsWithin(base.sequence(), next.sequence());
  const uint64_t begin = within.first, end = within.second;
  std::vector<SequenceEvent> old, now;
  DoBoth(
      pair.threads, [&] { old = base.Part(begin, end); }, [&] { now = next.Part(begin, end); });
  size_t same = 0;
  while (same < old.size() && same < now.size() && old[same].word == now[same].word) ++same;
  DiffDivergence divergence;
  divergence.event = begin + same;
  divergence.rank = next.facts().process.rank;
  if (same < old.size()) divergence.base_frames = base.FramesOf(old[same].site);
  if (same < now.size()) divergence.new_frames = next.FramesOf(now[same].site);
  return divergence;
}

// Sites are numbered as they first allocate: with the same numbers on both sides the same numbers happened.
bool NumberedAlike(const ComparedPair& pair, const RunDigest& base, const RunDigest& next) {
  if (base.sites_hash == next.sites_hash) return true;
  const std::vector<SiteMatch>& matches = pair.matches();
  return base.whole && next.whole && std::all_of(matches.begin(), matches.end(), [&](const SiteMatch& match) {
           return match.base.size() == 1 && match.next.size() == 1 &&
                  base.sites[match.base[0]].number == next.sites[match.next[0]].number;
         });
}

bool SameOfEachSite(const ComparedPair& pair, const RunDigest& base, const RunDigest& next) {
  if (!base.whole || !next.whole) return false;
  const auto sum = [](const RunDigest& digest, const std::vector<size_t>& members) {
    std::pair<uint64_t, uint64_t> events;
    for (const size_t i : members) {
      events.first += digest.sites[i].events;
      events.second += digest.sites[i].sum;
    }
    return events;
  };
  const std::vector<SiteMatch>& matches = pair.matches();
  return std::all_of(matches.begin(), matches.end(),
                     [&](const SiteMatch& match) { return sum(base, match.base) == sum(next, match.next); });
}

// Where they part is not known.
void CompareDigests(const ComparedPair& pair, DiffReport* report) {
  const RunDigest &base = pair.base.digest(), &next = pair.next.digest();
  report->events = next.events;
  if (base.events != next.events) return;
  report->identical = base.hash == next.hash && NumberedAlike(pair, base, next);
  report->reordered = !report->identical && SameOfEachSite(pair, base, next);
}

}  // namespace

void CompareSequences(const ComparedPair& pair, DiffReport* report) {
  if (!pair.base.is_ordered() || !pair.next.is_ordered()) return;
  if (!pair.base.has_trace() || !pair.next.has_trace()) return CompareDigests(pair, report);
  const EventSequence &base = pair.base.sequence(), &next = pair.next.sequence();
  report->events = next.count();
  report->identical = base.SameAs(next);
  report->reordered = !report->identical && base.SameEventsAs(next);
  if (!report->identical) report->first_divergence = FindDivergence(pair);
}

}  // namespace vramtrack
