// SPDX-License-Identifier: Apache-2.0
#include "testdata/transformer/comparison.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace transformer {

Comparison::Comparison(std::string name, double relative, double absolute)
    : name_(std::move(name)), relative_(relative), absolute_(absolute) {}

void Comparison::Expect(double actual, double expected, const std::string& what) {
  ++values_;
  const double error = std::fabs(actual - expected);
  largest_error_ = std::max(largest_error_, std::isnan(error) ? std::numeric_limits<double>::infinity() : error);
  if (error <= absolute_ + relative_ * std::fabs(expected)) return;
  if (mismatches_++ > 0) return;
  char text[96];
  std::snprintf(text, sizeof text, " is %.9g, expected %.9g", actual, expected);
  first_ = what + text;
}

void Comparison::ExpectAll(const std::vector<float>& actual, const std::vector<double>& expected,
                           const std::string& what) {
  Expect(static_cast<double>(actual.size()), static_cast<double>(expected.size()), what + ": count");
  for (size_t i = 0; i < std::min(actual.size(), expected.size()); ++i) Expect(actual[i], expected[i], what);
}

int Comparison::Report(std::FILE* out) const {
  if (mismatches_ == 0) {
    std::fprintf(out, "ok %s: %d values, largest error %.2g\n", name_.c_str(), values_, largest_error_);
  } else {
    std::fprintf(out, "MISMATCH %s: %d of %d values, first: %s\n", name_.c_str(), mismatches_, values_, first_.c_str());
  }
  return mismatches_;
}

}  // namespace transformer
