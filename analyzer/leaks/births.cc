// SPDX-License-Identifier: Apache-2.0
#include "analyzer/leaks/births.h"

#include <algorithm>

namespace vramtrack {
namespace {

uint64_t StepOf(size_t entry) { return uint64_t{8} << entry; }

// What `mean` says of the later part of the run, divided by what it says of the earlier part.
template <typename Mean>
double LateToEarly(const BirthTotals& totals, Step steps, Mean mean) {
  if (totals.size() < 3) return 0;
  // The later part is between a quarter and three quarters of the run.
  size_t middle = totals.size() - 2;
  while (middle > 0 && 4 * StepOf(middle) > 3 * uint64_t{steps}) --middle;
  size_t begin = middle;
  while (begin > 0 && 8 * StepOf(begin - 1) >= steps) --begin;
  if (begin == middle) return 0;
  const auto part = [&](const Births& from, const Births& to, double length) {
    return to.objects < from.objects + 2 ? 0 : mean({to.objects - from.objects, to.bytes - from.bytes}, length);
  };
  const double early = part(totals[begin], totals[middle], static_cast<double>(StepOf(middle) - StepOf(begin)));
  const double late =
      part(totals[middle], totals.back(), static_cast<double>(steps) - static_cast<double>(StepOf(middle)));
  return early > 0 && late > 0 ? late / early : 0;
}

}  // namespace

void NoteBirths(Step step, Births before, BirthTotals* totals) {
  while (StepOf(totals->size()) <= step) totals->push_back(before);
}

BirthTotals CompleteBirths(BirthTotals totals, Step steps, Births all) {
  NoteBirths(steps, all, &totals);
  totals.push_back(all);
  return totals;
}

void AddBirths(const BirthTotals& more, BirthTotals* sum) {
  sum->resize(std::max(sum->size(), more.size()));
  for (size_t i = 0; i < more.size(); ++i) {
    (*sum)[i].objects += more[i].objects;
    (*sum)[i].bytes += more[i].bytes;
  }
}

double SizeRatio(const BirthTotals& totals, Step steps) {
  return LateToEarly(totals, steps, [](const Births& part, double /*length*/) {
    return static_cast<double>(part.bytes) / static_cast<double>(part.objects);
  });
}

double NumberRatio(const BirthTotals& totals, Step steps) {
  return LateToEarly(totals, steps,
                     [](const Births& part, double length) { return static_cast<double>(part.objects) / length; });
}

}  // namespace vramtrack
