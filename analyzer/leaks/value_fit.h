// SPDX-License-Identifier: Apache-2.0
//
// Models how much memory a step needs for the value of its mark: tokens, sequence length, images.
#ifndef ANALYZER_LEAKS_VALUE_FIT_H_
#define ANALYZER_LEAKS_VALUE_FIT_H_

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/leaks/statistics.h"

namespace vramtrack {

// One step: its index, its value, and the most bytes that were live in it.
struct ValuedStep {
  double step = 0, value = 0, bytes = 0;
};

struct PredictedBytes {
  double bytes = 0;
  Interval interval;  // 95 %, for a single step
};

// A line through the steps, bytes = fixed + bytes_per_unit * value, for values from `bend` on. Below `bend` every step
// peaks at `floor`, independent of its value. The reason is that a step's peak is the higher one of two moments, and
// often only one of them depends on the batch (the backward pass does, the optimizer's step does not). A trend over the
// steps, such as that of a leak, is fitted together with the line, because it does not depend on the value. All figures
// are those at the last step.
//
// Intervals are from the circular block bootstrap over steps, which accounts for similar neighbours.
class ValueFit {
 public:
  // Fits the line. `steps` must be in order. If there are more than kMostSteps, only the last ones are used.
  explicit ValueFit(std::vector<ValuedStep> steps);

  static constexpr size_t kMostSteps = 4000;
  // With fewer steps, 95 % intervals contain the true value too rarely.
  static constexpr size_t kFewestSteps = 20;

  // Returns why there is no line, as the end of a sentence; empty if there is one. Without a line, only steps(),
  // least() and most() are meaningful.
  const std::string& refused() const { return refused_; }
  size_t steps() const { return steps_.size(); }
  double least() const { return least_; }  // the lowest value
  double most() const { return most_; }    // the highest value

  double bytes_per_unit() const { return line_.slope; }
  Interval bytes_per_unit_interval() const { return slope_interval_; }
  double fixed() const { return line_.base - line_.slope * line_.bend; }
  Interval fixed_interval() const { return fixed_interval_; }
  // Returns the value below which the peak is constant; none if all steps are on the line.
  std::optional<double> bend() const { return line_.bends ? std::optional<double>(line_.bend) : std::nullopt; }
  double floor() const { return line_.base; }  // meaningful if there is a bend
  // Returns the share of the peaks' variance, after removing the trend over the steps, that the line explains.
  double explained() const { return explained_; }

  // Returns the prediction for a step with this value. If the steps deviate from the line in a slight curve, the
  // interval extends to where a parabola would be.
  PredictedBytes Predict(double value) const;

  // Returns the largest value up to `most_value` whose interval stays within `limit_bytes`; none if even 0 does not.
  std::optional<double> LargestWithin(double limit_bytes, double most_value) const;

 private:
  // bytes = base + slope * (value - bend), at the last step. If it `bends`, values below `bend` count as `bend`.
  struct Line {
    double bend = 0, base = 0, slope = 0, trend = 0;  // trend: bytes per step
    bool bends = false;
    double At(double value) const { return base + slope * (bends && value < bend ? 0 : value - bend); }
  };
  struct Resampled {
    Line line;
    double residual = 0;
  };
  // The difference of a parabola and the line, as a function of value - bend: the error that the line may have.
  struct Curve {
    double base = 0, linear = 0, square = 0;
    double At(double distance) const { return base + distance * (linear + distance * square); }
  };
  class Search;

  std::string WhyNoValues() const;
  std::string Fit();
  std::optional<Curve> FindCurve(const std::vector<double>& residuals, double dependence) const;
  void Resample(const Search& search, const std::vector<double>& residuals, double dependence);

  std::vector<ValuedStep> steps_;
  double least_ = 0, most_ = 0;
  std::string refused_;
  Line line_;
  Interval slope_interval_, fixed_interval_;
  double explained_ = 0;
  std::optional<Curve> curve_;
  double widening_ = 1;
  std::vector<Resampled> resampled_;
};

}  // namespace vramtrack

#endif  // ANALYZER_LEAKS_VALUE_FIT_H_
