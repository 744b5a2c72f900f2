// SPDX-License-Identifier: Apache-2.0
//
// Downsamples curves: every pair of neighbouring points becomes one, repeatedly until there are few enough points.
// Downsampling in two passes gives the same result as in one.
#ifndef ANALYZER_MODEL_COARSER_H_
#define ANALYZER_MODEL_COARSER_H_

#include <cstddef>
#include <utility>
#include <vector>

#include "analyzer/model/report.h"

namespace vramtrack {

// Replaces every pair of neighbours by one of them. `choose` returns the index of the one to keep. The last value of an
// odd number is kept.
template <class T, class Choose>
void Halve(std::vector<T>* values, Choose choose) {
  std::vector<T> half;
  half.reserve((values->size() + 1) / 2);
  for (size_t i = 0; i < values->size(); i += 2) {
    half.push_back((*values)[i + 1 < values->size() ? choose(i, i + 1) : i]);
  }
  *values = std::move(half);
}

// Keeps the position at which each pair begins.
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
