// SPDX-License-Identifier: Apache-2.0
#include "analyzer/leaks/value_fit.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>

#include "absl/strings/str_cat.h"
#include "analyzer/base/quantity.h"

namespace vramtrack {
namespace {

// With fewer steps, 95 % intervals contain the true value too rarely; with fewer values, a line looks like a
// curve.
constexpr size_t kFewestSteps = 20, kFewestValues = 4;
// The largest value is at least this much above the smallest one.
constexpr double kLeastRatio = 1.1;
// Steps that the rising part of a line is fitted to.
constexpr size_t kFewestRising = 10;
constexpr size_t kMostBends = 32;
// A bend is one more unknown, and the best of many: each costs about the logarithm of the number of steps.
constexpr double kCostOfBend = 3;
// A line that explains less than this of how peaks differ explains nothing.
constexpr double kLeastExplained = 0.5;
// Values that follow the step number this closely look the same as it.
constexpr double kMostWithSteps = 0.95;
// What is left of sums of squares by rounding alone.
constexpr double kRounding = 1e-11;
// A parabola that is better by this Fisher's F and leaves the line by this share at kNext times the largest value: no
// line.
constexpr double kSignificantCurve = 20, kCurved = 0.1, kNext = 1.25;

// What the bytes of a step are explained by, scaled to about one, and these bytes. kOther: see Fitted::RowsFrom.
enum : size_t { kBase, kTrend, kRise, kOther, kBytes, kColumns };
using Row = std::array<double, kColumns>;
// [kBytes] of a row is its coefficient, the rest of it its row of the inverse of the normal equations. [kBytes][kBytes]
// is the sum of squares that is left. Unknown ones are 0.
using Solution = std::array<Row, kColumns>;

// Least squares, by sweeps.
Solution Solve(const std::vector<Row>& rows) {
  Solution sums = {};
  for (const Row& row : rows) {
    for (size_t i = 0; i < kColumns; ++i) {
      for (size_t j = 0; j < kColumns; ++j) sums[i][j] += row[i] * row[j];
    }
  }
  const Solution whole = sums;
  for (size_t k = 0; k < kBytes; ++k) {
    const double pivot = sums[k][k];
    if (pivot <= 1e-9 * whole[k][k]) {
      sums[k].fill(0);
      for (Row& row : sums) row[k] = 0;
      continue;
    }
    for (double& one : sums[k]) one /= pivot;
    sums[k][k] = 1 / pivot;
    for (size_t i = 0; i < kColumns; ++i) {
      if (i == k) continue;
      const double factor = sums[i][k];
      sums[i][k] = 0;
      for (size_t j = 0; j < kColumns; ++j) sums[i][j] -= factor * sums[k][j];
    }
  }
  return sums;
}

std::string WhyNoValues(const std::vector<ValuedStep>& steps) {
  if (steps.size() < kFewestSteps) {
    return absl::StrCat("only ", steps.size(), " steps after warm-up have a value; ", kFewestSteps, " are needed");
  }
  std::vector<double> values;
  const auto n = static_cast<double>(steps.size());
  double mean_value = 0, mean_step = 0, product = 0, of_values = 0, of_steps = 0;
  for (const ValuedStep& step : steps) {
    values.push_back(step.value);
    mean_value += step.value / n, mean_step += step.step / n;
  }
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  if (values.size() < kFewestValues) {
    return absl::StrCat("different values of the steps: ", values.size(), "; ", kFewestValues, " are needed");
  }
  if (values.back() < kLeastRatio * values.front()) return "the values differ by less than 10 %";
  for (const ValuedStep& step : steps) {
    product += (step.value - mean_value) * (step.step - mean_step);
    of_values += (step.value - mean_value) * (step.value - mean_value);
    of_steps += (step.step - mean_step) * (step.step - mean_step);
  }
  if (std::fabs(product) > kMostWithSteps * std::sqrt(of_values * of_steps)) {
    return "the values change with the step number, so their effect cannot be distinguished from a trend";
  }
  return "";
}

// Some of the values where a line may bend: above a few steps, and below enough of them.
std::vector<double> Bends(const std::vector<ValuedStep>& steps) {
  std::vector<double> values, bends;
  for (const ValuedStep& step : steps) values.push_back(step.value);
  std::sort(values.begin(), values.end());
  for (size_t i = 2; i + kFewestRising < values.size(); ++i) {
    if (values[i] > values[i - 1] && values[i] < values.back() / kLeastRatio) bends.push_back(values[i]);
  }
  const size_t count = std::min(bends.size(), kMostBends);
  for (size_t i = 0; i < count; ++i) bends[i] = bends[i * bends.size() / count];
  bends.resize(count);
  return bends;
}

// Half the 95 % interval of kRise, when `influence` is what each step adds to its error. Steps in a row may err alike:
// Newey and West's estimate.
double HalfInterval(const std::vector<double>& influence, double independent) {
  const size_t lags = static_cast<size_t>(std::cbrt(static_cast<double>(influence.size())));
  double variance = 0;
  for (size_t lag = 0; lag <= lags; ++lag) {
    const double weight = lag == 0 ? 1 : 2 - 2 * static_cast<double>(lag) / static_cast<double>(lags + 1);
    for (size_t i = lag; i < influence.size(); ++i) variance += weight * influence[i] * influence[i - lag];
  }
  // Student's t, to second order.
  return 1.96 * (1 + 1.21 / independent) * std::sqrt(std::max(0.0, variance) * (1 + 4 / independent));
}

// The steps as rows for Solve(), and the line through them that is found first.
struct Fitted {
  const std::vector<ValuedStep>& steps;
  double most;          // the largest value
  double mean, height;  // of the bytes: what kBytes is scaled by
  double bend = 0;      // the value where the line bends; 0: it does not
  Solution line;
  double without;   // the squares that are left without kRise
  double rounding;  // the squares that are left by rounding

  double left() const { return line[kBytes][kBytes]; }
  double rise() const { return line[kRise][kBytes]; }

  // `jump`: kOther is whether the value is above the bend.
  std::vector<Row> RowsFrom(double from, bool jump = false) const {
    const double span = std::max(1.0, steps.back().step - steps.front().step);
    std::vector<Row> rows;
    for (const ValuedStep& step : steps) {
      rows.push_back({1, (step.step - steps.back().step) / span, std::max(0.0, step.value - from) / most,
                      jump && step.value > from ? 1.0 : 0.0, (step.bytes - mean) / height});
    }
    return rows;
  }
};

// The straight line, or the bent one that fits so much better that it is worth its bend.
Fitted FindLine(const std::vector<ValuedStep>& steps, double most) {
  const auto n = static_cast<double>(steps.size());
  double mean = 0, square = 0;
  for (const ValuedStep& step : steps) mean += step.bytes / n;
  for (const ValuedStep& step : steps) square += (step.bytes - mean) * (step.bytes - mean);
  const double height = std::max(std::sqrt(square / n), std::numeric_limits<double>::min());
  Fitted fit{steps, most, mean, height, 0, {}, 0, kRounding * n};
  std::vector<Row> rows = fit.RowsFrom(0);
  fit.line = Solve(rows);
  for (Row& row : rows) row[kRise] = 0;
  fit.without = Solve(rows)[kBytes][kBytes];
  const double straight = fit.left();
  const auto bend_at = [&fit](double bend, const Solution& line) {
    fit.bend = bend;
    fit.line = line;
  };
  if (straight > fit.rounding) {
    for (const double at : Bends(steps)) {
      const Solution bent = Solve(fit.RowsFrom(at));
      const double left = std::max(fit.rounding, bent[kBytes][kBytes]);
      if (left >= fit.left() || n * std::log(straight / left) <= kCostOfBend * std::log(n)) continue;
      bend_at(at, bent);
    }
  }
  // The bend is between two values: where the line above it meets the floor.
  for (int i = 0; i < 8 && fit.bend > 0; ++i) {
    const Solution jumps = Solve(fit.RowsFrom(fit.bend, true));
    const double at = fit.bend - most * jumps[kOther][kBytes] / jumps[kRise][kBytes];
    if (!(at > 0 && at < most / kLeastRatio)) break;
    const Solution bent = Solve(fit.RowsFrom(at));
    if (bent[kBytes][kBytes] >= fit.left()) break;
    bend_at(at, bent);
  }
  return fit;
}

// Returns why the steps above the bend do not make a line; empty if they do. `*independent`: how many of them count.
std::string WhyNoLine(const Fitted& fit, double* independent) {
  std::vector<Row> rising;
  for (const Row& row : fit.RowsFrom(fit.bend)) {
    if (row[kRise] > 0) rising.push_back(row);
  }
  const Solution line = Solve(rising);
  for (Row& row : rising) row[kOther] = row[kRise] * row[kRise];
  const Solution curve = Solve(rising);
  *independent = std::max(1.0, static_cast<double>(rising.size()) - 4);
  const double noise = std::max(fit.rounding, curve[kBytes][kBytes]) / *independent, next = kNext - fit.bend / fit.most;
  const double off = curve[kBase][kBytes] - line[kBase][kBytes] +
                     next * (curve[kRise][kBytes] - line[kRise][kBytes] + next * curve[kOther][kBytes]);
  if (line[kBytes][kBytes] - curve[kBytes][kBytes] > kSignificantCurve * noise &&
      std::fabs(off) > kCurved * fit.rise() * next) {
    return absl::StrCat("the peak rises ", off > 0 ? "faster" : "more slowly", " than on a line");
  }
  return "";
}

// Returns why there is no line; empty if `*line` has it.
std::string FitLine(const std::vector<ValuedStep>& steps, double most, const std::optional<double>& limit_bytes,
                    ReportValueFit::Line* line) {
  const Fitted fit = FindLine(steps, most);
  const double rise = fit.rise();
  if (fit.without <= fit.rounding) return "apart from a trend over the steps, all steps have the same peak";
  line->explained = std::clamp(1 - fit.left() / fit.without, 0.0, 1.0);
  if (line->explained < kLeastExplained) {
    return absl::StrCat("the value explains only ", FormatPercent(line->explained), " of how the peaks differ");
  }
  if (rise <= 0) return "the peak does not rise with the value";
  double independent = 0;
  if (std::string why = WhyNoLine(fit, &independent); !why.empty()) return why;
  // Where it bends is not sure: a jump there is another unknown.
  const std::vector<Row> rows = fit.RowsFrom(fit.bend, fit.bend > 0);
  const Solution jumps = Solve(rows);
  double worst = 0;
  std::vector<double> influence;
  for (const Row& row : rows) {
    double weight = 0, error = row[kBytes];
    for (size_t k = 0; k < kBytes; ++k) {
      weight += jumps[kRise][k] * row[k];
      if (k != kOther) error -= fit.line[k][kBytes] * row[k];
    }
    influence.push_back(weight * error);
    worst = std::max(worst, error);
  }
  const double per_unit = fit.height / most, half = HalfInterval(influence, independent);
  if (rise <= half) return "the peak does not surely rise with the value";
  line->bytes_per_unit = per_unit * rise;
  line->ci_low = per_unit * (rise - half);
  line->ci_high = per_unit * (rise + half);
  const double base = fit.mean + fit.height * fit.line[kBase][kBytes];
  line->fixed_bytes = base - line->bytes_per_unit * fit.bend;
  if (fit.bend > 0) {
    line->bend_value = fit.bend;
    line->floor_bytes = base;
  }
  if (limit_bytes) {
    const double room = *limit_bytes - base - fit.height * worst;
    line->largest_value = room < 0 ? 0 : std::min(ReportValueFit::kFarthest * most, fit.bend + room / line->ci_high);
  }
  return "";
}

}  // namespace

ReportValueFit FitValues(std::vector<ValuedStep> steps, const std::optional<double>& limit_bytes) {
  if (steps.size() > kMostValuedSteps) steps.erase(steps.begin(), steps.end() - kMostValuedSteps);
  ReportValueFit fit;
  fit.steps = steps.size();
  bool whole = true;
  for (const ValuedStep& step : steps) {
    fit.least_value = &step == &steps.front() ? step.value : std::min(fit.least_value, step.value);
    fit.most_value = std::max(fit.most_value, step.value);
    whole = whole && step.value == std::floor(step.value);
  }
  fit.refused = WhyNoValues(steps);
  ReportValueFit::Line line;
  if (fit.refused.empty()) fit.refused = FitLine(steps, fit.most_value, limit_bytes, &line);
  if (!fit.refused.empty()) return fit;
  if (line.largest_value && whole) line.largest_value = std::floor(*line.largest_value);
  fit.line = line;
  return fit;
}

}  // namespace vramtrack
