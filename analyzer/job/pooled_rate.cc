// SPDX-License-Identifier: Apache-2.0
#include "analyzer/job/pooled_rate.h"

#include <algorithm>
#include <cmath>

namespace vramtrack {
namespace {

constexpr double kConfidence = 0.95;
constexpr double kNormalFactor = 1.959963984540054;
constexpr double kPi = 3.14159265358979323846;

// How likely Student's t is within plus and minus `t`: Abramowitz and Stegun, 26.7.3 and 26.7.4.
double StudentWithin(double t, uint64_t degrees) {
  const double angle = std::atan(t / std::sqrt(static_cast<double>(degrees)));
  const double cosine = std::cos(angle), square = cosine * cosine;
  const bool odd = degrees % 2 != 0;
  double term = odd ? cosine : 1, sum = degrees == 1 ? 0 : term;
  for (uint64_t k = odd ? 3 : 2; k < degrees; k += 2) {
    term *= square * static_cast<double>(k - 1) / static_cast<double>(k);
    sum += term;
  }
  return odd ? 2 / kPi * (angle + std::sin(angle) * sum) : std::sin(angle) * sum;
}

}  // namespace

double StudentFactor(uint64_t degrees) {
  constexpr uint64_t kNearlyNormal = 200;
  if (degrees > kNearlyNormal) {
    // The first terms of Fisher's and Cornish's expansion: Abramowitz and Stegun, 26.7.5.
    const double z = kNormalFactor, n = static_cast<double>(degrees);
    const double first = (std::pow(z, 3) + z) / 4, second = (5 * std::pow(z, 5) + 16 * std::pow(z, 3) + 3 * z) / 96;
    return z + first / n + second / (n * n);
  }
  double low = kNormalFactor, high = 13;
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    (StudentWithin(middle, degrees) < kConfidence ? low : high) = middle;
  }
  return high;
}

ReportAcross::Rate PoolRates(const std::vector<RankRate>& rates) {
  const double n = static_cast<double>(rates.size());
  std::vector<double> sorted;
  double sum = 0, own = 0;
  for (const RankRate& one : rates) {
    sorted.push_back(one.rate);
    sum += one.rate;
    const double error = (one.high - one.low) / 2 / kNormalFactor;
    own += error * error;
  }
  std::sort(sorted.begin(), sorted.end());
  ReportAcross::Rate pooled;
  // The mean of what is the same is the same, to the last digit.
  pooled.mean = sorted.front() == sorted.back() ? sorted.front() : sum / n;
  double squares = 0;
  for (const double rate : sorted) squares += (rate - pooled.mean) * (rate - pooled.mean);
  pooled.least = sorted.front();
  pooled.most = sorted.back();
  const size_t half = sorted.size() / 2;
  pooled.median = sorted.size() % 2 != 0 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
  if (rates.size() == 1) {
    pooled.ci_low = rates[0].low;
    pooled.ci_high = rates[0].high;
    return pooled;
  }
  pooled.standard_deviation = std::sqrt(squares / (n - 1));
  const double of_spread = squares / (n - 1) / n, of_own = own / (n * n);
  const double error =
      of_spread >= of_own ? StudentFactor(rates.size() - 1) * std::sqrt(of_spread) : kNormalFactor * std::sqrt(of_own);
  pooled.ci_low = pooled.mean - error;
  pooled.ci_high = pooled.mean + error;
  return pooled;
}

}  // namespace vramtrack
