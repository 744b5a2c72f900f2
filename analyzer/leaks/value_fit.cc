// SPDX-License-Identifier: Apache-2.0
#include "analyzer/leaks/value_fit.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "analyzer/base/quantity.h"

namespace vramtrack {
namespace {

// With fewer different values a line cannot be told from a curve.
constexpr size_t kFewestValues = 4;
// The largest value is at least this much above the smallest one.
constexpr double kLeastRatio = 1.1;
// Steps that the rising part of a line is fitted to.
constexpr size_t kFewestRising = 10;
constexpr size_t kMostBends = 32;
// A bend is one more unknown, and the best of many: each costs about the logarithm of the number of steps.
constexpr double kCostOfBend = 3;
// A line that explains less than this of how peaks differ is no explanation.
constexpr double kLeastExplained = 0.5;
// Values that follow the step number this closely cannot be told from it.
constexpr double kMostWithSteps = 0.95;
// What is left of sums of squares by rounding alone.
constexpr double kRounding = 1e-11;
// Fisher's F for one more unknown, at about a half percent.
constexpr double kSignificantCurve = 8;
// A parabola that leaves the line by this share of what the value adds, at kNext times the largest value: no line.
constexpr double kCurved = 0.1;
constexpr double kNext = 1.25;

// Least squares by the normal equations of `unknowns` unknowns; what cannot be told is 0. False if the last one cannot.
template <size_t N>
bool Solve(std::array<std::array<double, N + 1>, N> rows, std::array<double, N>* solution) {
  std::array<double, N> scale;
  for (size_t i = 0; i < N; ++i) scale[i] = rows[i][i];
  for (size_t i = 0; i < N; ++i) {
    if (rows[i][i] <= 1e-9 * scale[i]) {
      rows[i].fill(0);
      continue;
    }
    for (size_t j = i + 1; j < N; ++j) {
      const double factor = rows[j][i] / rows[i][i];
      for (size_t k = i; k <= N; ++k) rows[j][k] -= factor * rows[i][k];
    }
  }
  for (size_t i = N; i-- > 0;) {
    double value = rows[i][N];
    for (size_t k = i + 1; k < N; ++k) value -= rows[i][k] * (*solution)[k];
    (*solution)[i] = rows[i][i] > 0 ? value / rows[i][i] : 0;
  }
  return rows[N - 1][N - 1] > 0;
}

// How many neighbours of a series tell as much as one independent value: the sum of its autocorrelations, as far as
// these are more than chance.
double Dependence(const std::vector<double>& values) {
  const size_t n = values.size();
  double square = 0, sum = 1;
  for (const double value : values) square += value * value;
  if (square <= 0) return 1;
  for (size_t lag = 1; lag < n / 4; ++lag) {
    double product = 0;
    for (size_t i = lag; i < n; ++i) product += values[i] * values[i - lag];
    if (product / square <= 2 / std::sqrt(static_cast<double>(n))) break;
    sum += 2 * product / square;
  }
  return sum;
}

}  // namespace

// Finds the best line for the steps as they are and for resamples of them. Steps, values and bytes are scaled to about
// one, so that sums of squares keep their digits.
class ValueFit::Search {
 public:
  Search(const std::vector<ValuedStep>& steps, double least, double most) : least_(least), range_(most - least) {
    double mean = 0, square = 0;
    for (const ValuedStep& step : steps) mean += step.bytes / static_cast<double>(steps.size());
    for (const ValuedStep& step : steps) square += (step.bytes - mean) * (step.bytes - mean);
    mean_ = mean;
    deviation_ = std::max(std::sqrt(square / static_cast<double>(steps.size())), std::numeric_limits<double>::min());
    span_ = std::max(1.0, steps.back().step - steps.front().step);
    for (size_t i = 0; i < steps.size(); ++i) {
      points_.push_back({(steps[i].value - least) / range_, (steps[i].step - steps.back().step) / span_,
                         (steps[i].bytes - mean) / deviation_, i});
    }
    std::sort(points_.begin(), points_.end(),
              [](const Point& a, const Point& b) { return a.x != b.x ? a.x < b.x : a.step < b.step; });
    FindBends();
  }

  struct Found {
    Line line;
    double error = std::numeric_limits<double>::infinity();  // sum of squares, scaled
  };
  // `counts`: how often each step is taken. `bend`: whether the line has one.
  Found Best(const std::vector<uint32_t>& counts, bool bend) const {
    Sums all, above;
    for (const Point& point : points_) all.Add(point, counts[point.step]);
    Found best;
    size_t next = points_.size();
    for (size_t i = bend ? bends_.size() : 1; i-- > 0;) {
      const double at = bend ? points_[bends_[i]].x : 0;
      for (; next > 0 && points_[next - 1].x > at; --next) above.Add(points_[next - 1], counts[points_[next - 1].step]);
      Try(all, above, at, bend, &best);
    }
    return best;
  }
  // Sum of squares when the value counts for nothing.
  double ErrorWithoutValue(const std::vector<uint32_t>& counts) const {
    Sums all;
    for (const Point& point : points_) all.Add(point, counts[point.step]);
    std::array<double, 2> solution = {};
    Solve<2>({{{all.n, all.t, all.y}, {all.t, all.tt, all.ty}}}, &solution);
    return all.yy - solution[0] * all.y - solution[1] * all.ty;
  }
  bool can_bend() const { return !bends_.empty(); }

 private:
  struct Point {
    double x, t, y;
    size_t step;
  };
  struct Sums {
    double n = 0, x = 0, t = 0, y = 0, xx = 0, xt = 0, xy = 0, tt = 0, ty = 0, yy = 0;
    void Add(const Point& point, uint32_t count) {
      const double c = count, cx = c * point.x, ct = c * point.t, cy = c * point.y;
      n += c, x += cx, t += ct, y += cy;
      xx += cx * point.x, xt += cx * point.t, xy += cx * point.y;
      tt += ct * point.t, ty += ct * point.y, yy += cy * point.y;
    }
  };

  // Some of the values where a line may bend: above a few steps, and below enough of them.
  void FindBends() {
    std::vector<size_t> possible;
    for (size_t i = 2; i + kFewestRising < points_.size(); ++i) {
      if (points_[i].x > points_[i - 1].x && points_[i].x < points_.back().x / kLeastRatio) possible.push_back(i);
    }
    const size_t count = std::min(possible.size(), kMostBends);
    for (size_t i = 0; i < count; ++i) bends_.push_back(possible[i * possible.size() / count]);
  }

  void Try(const Sums& all, const Sums& above, double at, bool bend, Found* best) const {
    const double h = above.x - at * above.n, ht = above.xt - at * above.t, hy = above.xy - at * above.y;
    const double hh = above.xx - 2 * at * above.x + at * at * above.n;
    std::array<double, 3> solution = {};
    if (!Solve<3>({{{all.n, all.t, h, all.y}, {all.t, all.tt, ht, all.ty}, {h, ht, hh, hy}}}, &solution)) return;
    const auto [base, trend, slope] = solution;
    const double error = all.yy - base * all.y - trend * all.ty - slope * hy;
    if (error >= best->error) return;
    best->error = error;
    best->line = {least_ + range_ * at, mean_ + deviation_ * base, deviation_ * slope / range_,
                  deviation_ * trend / span_, bend};
  }

  std::vector<Point> points_;  // by value
  std::vector<size_t> bends_;  // indices of points_
  double least_, range_, mean_ = 0, deviation_ = 1, span_ = 1;
};

std::string ValueFit::WhyNoValues() const {
  if (steps_.size() < kFewestSteps) {
    return absl::StrCat("only ", steps_.size(), " steps after warm-up have a value; ", kFewestSteps, " are needed");
  }
  std::vector<double> values;
  for (const ValuedStep& step : steps_) values.push_back(step.value);
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  if (values.size() == 1) return "all steps have the same value";
  if (values.size() < kFewestValues) {
    return absl::StrCat("the steps have only ", values.size(), " different values; ", kFewestValues, " are needed");
  }
  if (most_ < kLeastRatio * least_) return "the values differ by less than 10 %";
  double mean_value = 0, mean_step = 0, product = 0, of_values = 0, of_steps = 0;
  const auto n = static_cast<double>(steps_.size());
  for (const ValuedStep& step : steps_) mean_value += step.value / n, mean_step += step.step / n;
  for (const ValuedStep& step : steps_) {
    product += (step.value - mean_value) * (step.step - mean_step);
    of_values += (step.value - mean_value) * (step.value - mean_value);
    of_steps += (step.step - mean_step) * (step.step - mean_step);
  }
  if (std::fabs(product) > kMostWithSteps * std::sqrt(of_values * of_steps)) {
    return "the values change with the step number, so their effect cannot be distinguished from a trend";
  }
  const auto [low, high] = std::minmax_element(
      steps_.begin(), steps_.end(), [](const ValuedStep& a, const ValuedStep& b) { return a.bytes < b.bytes; });
  if (low->bytes == high->bytes) return absl::StrCat("every step peaks at ", FormatByteCount(low->bytes));
  return "";
}

ValueFit::ValueFit(std::vector<ValuedStep> steps) : steps_(std::move(steps)) {
  if (steps_.size() > kMostSteps) steps_.erase(steps_.begin(), steps_.end() - kMostSteps);
  if (!steps_.empty()) {
    const auto [low, high] = std::minmax_element(
        steps_.begin(), steps_.end(), [](const ValuedStep& a, const ValuedStep& b) { return a.value < b.value; });
    least_ = low->value;
    most_ = high->value;
  }
  refused_ = WhyNoValues();
  if (refused_.empty()) refused_ = Fit();
}

std::string ValueFit::Fit() {
  const Search search(steps_, least_, most_);
  const std::vector<uint32_t> once(steps_.size(), 1);
  const auto n = static_cast<double>(steps_.size());
  const Search::Found straight = search.Best(once, false);
  line_ = straight.line;
  double error = straight.error;
  if (search.can_bend() && straight.error > kRounding * n) {
    const Search::Found bent = search.Best(once, true);
    const double left = std::max(bent.error, kRounding * n);
    if (n * std::log(straight.error / left) > kCostOfBend * std::log(n)) {
      line_ = bent.line;
      error = bent.error;
    }
  }
  const double without = search.ErrorWithoutValue(once);
  explained_ = without > kRounding * n ? std::clamp(1 - error / without, 0.0, 1.0) : 0;
  if (without <= kRounding * n) return "apart from a trend over the steps, all steps have the same peak";
  if (explained_ < kLeastExplained) {
    return absl::StrCat("the value explains only ", FormatPercent(explained_), " of how the peaks differ");
  }
  if (line_.slope <= 0) return "the peak does not rise with the value";

  std::vector<double> residuals;
  for (const ValuedStep& step : steps_) {
    residuals.push_back(step.bytes - line_.At(step.value) - line_.trend * (step.step - steps_.back().step));
  }
  const double dependence = Dependence(residuals);
  curve_ = FindCurve(residuals, dependence);
  if (curve_) {
    const double distance = kNext * most_ - line_.bend;
    const double off = curve_->At(distance);
    if (std::fabs(off) > kCurved * line_.slope * distance) {
      return absl::StrCat("the peak rises ", off > 0 ? "faster" : "more slowly", " than on a line");
    }
  }
  Resample(search, residuals, dependence);
  if (slope_interval_.low <= 0) return "the peak does not surely rise with the value";
  return "";
}

std::optional<ValueFit::Curve> ValueFit::FindCurve(const std::vector<double>& residuals, double dependence) const {
  // Scaled to about one.
  const double reach = most_ - line_.bend, height = line_.slope * reach;
  const double span = std::max(1.0, steps_.back().step - steps_.front().step);
  std::array<std::array<double, 5>, 4> sums = {};
  double square = 0, count = 0;
  for (size_t i = 0; i < steps_.size(); ++i) {
    if (line_.bends && steps_[i].value < line_.bend) continue;
    const double h = (steps_[i].value - line_.bend) / reach, y = residuals[i] / height;
    const std::array<double, 5> terms = {1, (steps_[i].step - steps_.back().step) / span, h, h * h, y};
    for (size_t row = 0; row < 4; ++row) {
      for (size_t column = 0; column < 5; ++column) sums[row][column] += terms[row] * terms[column];
    }
    square += y * y;
    count += 1;
  }
  std::array<double, 3> straight = {};
  std::array<double, 4> curved = {};
  std::array<std::array<double, 4>, 3> fewer = {};
  for (size_t row = 0; row < 3; ++row) fewer[row] = {sums[row][0], sums[row][1], sums[row][2], sums[row][4]};
  Solve<3>(fewer, &straight);
  if (count < kFewestRising || !Solve<4>(sums, &curved)) return std::nullopt;
  double error = square, error_curved = square;
  for (size_t row = 0; row < 3; ++row) error -= straight[row] * sums[row][4];
  for (size_t row = 0; row < 4; ++row) error_curved -= curved[row] * sums[row][4];
  if (error <= kRounding * count) return std::nullopt;
  const double noise = std::max(error_curved, kRounding * count) / (count - 4);
  if (error - error_curved < kSignificantCurve * dependence * noise) return std::nullopt;
  return Curve{height * curved[0], height * curved[2] / reach, height * curved[3] / (reach * reach)};
}

void ValueFit::Resample(const Search& search, const std::vector<double>& residuals, double dependence) {
  // How far a step of a large value is off the line.
  std::vector<std::pair<double, double>> by_value;
  for (size_t i = 0; i < steps_.size(); ++i) {
    if (!line_.bends || steps_[i].value >= line_.bend) by_value.emplace_back(steps_[i].value, residuals[i]);
  }
  std::sort(by_value.begin(), by_value.end());
  if (by_value.size() >= 2 * kFewestSteps) {
    by_value.erase(by_value.begin(), by_value.begin() + static_cast<std::ptrdiff_t>(by_value.size() / 2));
  }
  const auto n = static_cast<double>(steps_.size());
  const double unknowns = line_.bends ? 4 : 3;
  // Residuals are smaller than what a further step will be off by: as many unknowns were fitted to so many values that
  // are independent of each other.
  const double independent = std::max(2 * unknowns, n / dependence);
  const double inflate = std::sqrt(independent / (independent - unknowns));

  const double block = std::clamp(std::ceil(2 * dependence) - 1, 1.0, n / 5);
  BlockDraws draws(steps_.size(), static_cast<uint32_t>(block));
  widening_ = draws.widening();
  std::vector<uint32_t> counts(steps_.size());
  std::vector<double> slopes, fixed;
  const double fixed_at = line_.base - line_.slope * line_.bend;
  for (size_t resample = 0; resample < BlockDraws::kResamples; ++resample) {
    std::fill(counts.begin(), counts.end(), 0);
    for (const size_t begin : draws.Next()) {
      for (size_t i = 0; i < draws.length(); ++i) ++counts[(begin + i) % steps_.size()];
    }
    const Search::Found found = search.Best(counts, line_.bends);
    // A resample of equal values says nothing.
    const Line& line = std::isfinite(found.error) ? found.line : line_;
    resampled_.push_back({line, inflate * by_value[draws.Below(by_value.size())].second});
    slopes.push_back(line_.slope + widening_ * (line.slope - line_.slope));
    fixed.push_back(fixed_at + widening_ * (line.base - line.slope * line.bend - fixed_at));
  }
  slope_interval_ = MiddleOf(&slopes);
  fixed_interval_ = MiddleOf(&fixed);
}

PredictedBytes ValueFit::Predict(double value) const {
  const double expected = line_.At(value);
  std::vector<double> predicted;
  predicted.reserve(resampled_.size());
  for (const Resampled& one : resampled_) {
    predicted.push_back(expected + widening_ * (one.line.At(value) - expected) + one.residual);
  }
  PredictedBytes prediction{expected, MiddleOf(&predicted)};
  prediction.interval.low = std::min(prediction.interval.low, expected);
  prediction.interval.high = std::max(prediction.interval.high, expected);
  if (curve_ && value > line_.bend) {
    const double off = curve_->At(value - line_.bend);
    (off > 0 ? prediction.interval.high : prediction.interval.low) += off;
  }
  prediction.interval.low = std::max(0.0, prediction.interval.low);
  return prediction;
}

std::optional<double> ValueFit::LargestWithin(double limit_bytes, double most_value) const {
  const auto fits = [&](double value) { return Predict(value).interval.high <= limit_bytes; };
  if (!fits(0)) return std::nullopt;
  if (fits(most_value)) return most_value;
  double low = 0, high = most_value;
  for (int i = 0; i < 40; ++i) {
    const double middle = (low + high) / 2;
    (fits(middle) ? low : high) = middle;
  }
  return low;
}

}  // namespace vramtrack
