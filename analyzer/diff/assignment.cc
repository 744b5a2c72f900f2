// SPDX-License-Identifier: Apache-2.0
#include "analyzer/diff/assignment.h"

#include <algorithm>
#include <tuple>

namespace vramtrack {
namespace {

// More would take long, and so many sites with the same names are told apart by their order as well as by anything.
constexpr size_t kMaxCandidates = 1000000;

struct Candidate {
  double cost;
  size_t shift;
  size_t base, next;
};

}  // namespace

std::vector<std::pair<size_t, size_t>> PairCheapest(size_t base, size_t next, double most,
                                                    const std::function<double(size_t, size_t)>& cost) {
  std::vector<Candidate> candidates;
  const bool all = base * next <= kMaxCandidates;
  for (size_t b = 0; b < base; ++b) {
    const size_t first = all ? 0 : b, end = all ? next : std::min(next, b + 1);
    for (size_t n = first; n < end; ++n) {
      const double value = cost(b, n);
      if (value <= most) candidates.push_back({value, b > n ? b - n : n - b, b, n});
    }
  }
  std::sort(candidates.begin(), candidates.end(), [](const Candidate& x, const Candidate& y) {
    return std::tie(x.cost, x.shift, x.base, x.next) < std::tie(y.cost, y.shift, y.base, y.next);
  });
  std::vector<bool> base_taken(base), next_taken(next);
  std::vector<std::pair<size_t, size_t>> pairs;
  for (const Candidate& candidate : candidates) {
    if (base_taken[candidate.base] || next_taken[candidate.next]) continue;
    base_taken[candidate.base] = next_taken[candidate.next] = true;
    pairs.push_back({candidate.base, candidate.next});
  }
  std::sort(pairs.begin(), pairs.end());
  return pairs;
}

}  // namespace vramtrack
