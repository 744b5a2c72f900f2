// SPDX-License-Identifier: Apache-2.0
//
// What the models of posterior.cc compare: survivors by step, condensed to few bins, and sums of logarithms.
#ifndef ANALYZER_LEAKS_SURVIVOR_BINS_H_
#define ANALYZER_LEAKS_SURVIVOR_BINS_H_

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "analyzer/leaks/log_gamma.h"
#include "analyzer/leaks/survivors.h"

namespace vramtrack {

constexpr double kNever = -std::numeric_limits<double>::infinity();

inline double LogSum(double a, double b) {
  if (a < b) std::swap(a, b);
  return b == kNever ? a : a + std::log1p(std::exp(b - a));
}

// A sum of numbers that are given as logarithms.
class LogTotal {
 public:
  void Add(double term) {
    if (term <= max_ - 40) return;
    if (term > max_) {
      sum_ = sum_ * std::exp(max_ - term) + 1;
      max_ = term;
    } else {
      sum_ += std::exp(term - max_);
    }
  }
  double value() const { return sum_ > 0 ? max_ + std::log(sum_) : kNever; }

 private:
  double max_ = kNever, sum_ = 0;
};

// Resolution: so many bins, the first ones of one step each. Steps of longer runs are taken together before.
constexpr size_t kBins = 96, kFineBins = 32;
constexpr Step kMostCondensedSteps = 8192;

// log n! for whole numbers, looked up. Larger ones do not occur: steps are condensed, misses are steps.
inline double LogFactorialOf(uint32_t n) {
  static const std::vector<double> table = [] {
    std::vector<double> logs(2 * kMostCondensedSteps);
    for (size_t i = 0; i < logs.size(); ++i) logs[i] = LogFactorial(static_cast<double>(i));
    return logs;
  }();
  return n < table.size() ? table[n] : LogFactorial(n);
}

// Survivors by step, as bins. Sums before each edge of the bins make spans between edges quick to judge.
struct SurvivorBins {
  explicit SurvivorBins(const Evidence& evidence) {
    Condense(evidence);
    MakeBins();
  }

  size_t count() const { return edges.size() - 1; }
  Step StepOf(Step condensed) const { return condensed * group; }

  Step group = 1, end = 1;  // steps that are taken together; number of such groups
  uint32_t slots = 1;       // a step has so many
  double log_slots = 0;
  std::vector<uint32_t> filled;                   // of each step
  std::vector<Step> edges;                        // of bins
  std::vector<double> objects, nonempty, choose;  // before each edge

 private:
  // Counts by step as slots that are filled or not: nine in ten steps have no more objects than slots. So one object a
  // step, seven to nine, and large random numbers are one family.
  void Condense(const Evidence& evidence) {
    group = evidence.end / kMostCondensedSteps + 1;
    end = std::max<Step>(1, evidence.end / group);
    filled.assign(end, 0);
    for (const Survivors& at : evidence.left) {
      const Step step = std::min(at.step / group, end - 1);
      filled[step] = static_cast<uint32_t>(std::min<uint64_t>(uint64_t{filled[step]} + at.objects, UINT32_MAX));
    }
    std::vector<uint32_t> ordinary(filled.begin() + std::min<Step>(8, end / 4), filled.end());
    const size_t rank = static_cast<size_t>(std::ceil(0.9 * static_cast<double>(ordinary.size() - 1)));
    std::nth_element(ordinary.begin(), ordinary.begin() + static_cast<std::ptrdiff_t>(rank), ordinary.end());
    slots = std::max<uint32_t>(1, ordinary[rank]);
    log_slots = std::log(slots);
    for (uint32_t& of_step : filled) of_step = std::min(of_step, slots);
  }

  void MakeBins() {
    const Step fine = std::min<Step>(kFineBins, end), rest = end - fine;
    for (Step i = 0; i <= fine; ++i) edges.push_back(i);
    const Step wide = std::min<Step>(rest, kBins - kFineBins);
    for (Step i = 1; i <= wide; ++i) {
      edges.push_back(fine + static_cast<Step>(std::lround(static_cast<double>(rest) * i / wide)));
    }
    objects.assign(edges.size(), 0);
    nonempty.assign(edges.size(), 0);
    choose.assign(edges.size(), 0);
    for (size_t bin = 0; bin < count(); ++bin) {
      objects[bin + 1] = objects[bin];
      nonempty[bin + 1] = nonempty[bin];
      choose[bin + 1] = choose[bin];
      for (Step t = edges[bin]; t < edges[bin + 1]; ++t) {
        objects[bin + 1] += filled[t];
        nonempty[bin + 1] += filled[t] > 0;
        if (slots > 1) {
          choose[bin + 1] += LogFactorialOf(slots) - LogFactorialOf(filled[t]) - LogFactorialOf(slots - filled[t]);
        }
      }
    }
  }
};

}  // namespace vramtrack

#endif  // ANALYZER_LEAKS_SURVIVOR_BINS_H_
