// SPDX-License-Identifier: Apache-2.0
//
// Curves with half as many points, pair by pair: as often as it takes for the points to be few. What is made coarser in
// two steps is what is made so in one.
#ifndef ANALYZER_MODEL_COARSER_H_
#define ANALYZER_MODEL_COARSER_H_

#include <cstddef>
#include <utility>
#include <vector>

#include "analyzer/model/report.h"

namespace vramtrack {

// What every pair of neighbours becomes; `of` gives that of a pair, and is called with one index for the last of an odd
// number.
template <class T, class Choose>
void Halve(std::vector<T>* values, Choose choose) {
  std::vector<T> half;
  half.reserve((values->size() + 1) / 2);
  for (size_t i = 0; i < values->size(); i += 2) {
    half.push_back((*values)[i + 1 < values->size() ? choose(i, i + 1) : i]);
  }
  *values = std::move(half);
}

// Where each pair begins.
inline void HalvePositions(std::vector<double>* positions) {
  Halve(positions, [](size_t a, size_t) { return a; });
}

inline void HalveSeries(ReportTimeline::Series* series) {
  const auto lower = [of = series->low](size_t a, size_t b) { return of[b] < of[a] ? b : a; };
  const auto higher = [of = series->high](size_t a, size_t b) { return of[b] > of[a] ? b : a; };
  Halve(&series->low, lower);
  Halve(&series->high, higher);
}

}  // namespace vramtrack

#endif  // ANALYZER_MODEL_COARSER_H_
