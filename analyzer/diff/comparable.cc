// SPDX-License-Identifier: Apache-2.0
#include "analyzer/diff/comparable.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"

namespace vramtrack {
namespace {

// With less of what both runs allocate at sites that they share, they are not two runs of one program.
constexpr double kLeastShared = 0.2;

// The share of what `run` allocates that is allocated at sites which the other one has as well. Every doubling of bytes
// counts once: neither the largest buffer nor the number of scalars decides.
double Shared(const ComparedProcess& run, const std::vector<SiteMatch>& matches, std::vector<size_t> SiteMatch::*mine,
              std::vector<size_t> SiteMatch::*other) {
  double shared = 0, all = 0;
  for (const SiteMatch& match : matches) {
    for (const size_t i : match.*mine) {
      const double weight = 1 + std::log2(1 + static_cast<double>(run.sites()[i].bytes_allocated));
      all += weight;
      if (!(match.*other).empty()) shared += weight;
    }
  }
  return all == 0 ? 0 : shared / all;
}

}  // namespace

std::string WhyNotComparable(const ComparedPair& pair) {
  const ComparedProcess &base = pair.base, &next = pair.next;
  const std::vector<SiteMatch>& matches = pair.matches();
  const bool base_empty = base.sites().empty(), next_empty = next.sites().empty();
  if (base_empty && next_empty) return "neither run allocated anything";
  if (base_empty || next_empty) return absl::StrCat(base_empty ? "the base" : "the new run", " allocated nothing");
  const StepProfile *old = base.sums(), *now = next.sums();
  if (old != nullptr && now != nullptr && old->window_bytes != 0 && now->window_bytes != 0 &&
      old->window_bytes != now->window_bytes) {
    return "neither has steps, and the summaries' windows are not of the same size: with the trace of one of them they "
           "will be";
  }
  const double shared = std::max(Shared(base, matches, &SiteMatch::base, &SiteMatch::next),
                                 Shared(next, matches, &SiteMatch::next, &SiteMatch::base));
  if (shared >= kLeastShared) return "";
  return absl::StrCat("these are not two runs of one program: only ", std::lround(100 * shared),
                      " % of what they allocate is allocated at places that both have");
}

}  // namespace vramtrack
