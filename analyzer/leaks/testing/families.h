// SPDX-License-Identifier: Apache-2.0
//
// Synthetic sites as test data for the verdicts: ten kinds of leak and fourteen kinds that look like one.
#ifndef ANALYZER_LEAKS_TESTING_FAMILIES_H_
#define ANALYZER_LEAKS_TESTING_FAMILIES_H_

#include <climits>
#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "analyzer/leaks/site_history.h"

namespace vramtrack {

struct SyntheticObject {
  static constexpr int kForever = INT_MAX;
  int birth_step = 0;
  int death_step = kForever;  // the step in which it is freed
  double bytes = 0;
};
using SyntheticSite = std::vector<SyntheticObject>;
using Random = std::mt19937_64;

struct Family {
  std::string name;
  bool leaks = false;
  std::function<SyntheticSite(Random&, int steps)> make;
};

// Returns all families, always in the same order.
const std::vector<Family>& Families();

// Returns the history of a site, from its events in order of time.
SiteHistory HistoryOf(const SyntheticSite& site, int steps);

}  // namespace vramtrack

#endif  // ANALYZER_LEAKS_TESTING_FAMILIES_H_
