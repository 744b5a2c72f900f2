// SPDX-License-Identifier: Apache-2.0
//
// Logarithms of gamma and beta functions: as exact as the C library's to ten digits, faster, and safe in threads.
#ifndef ANALYZER_LEAKS_LOG_GAMMA_H_
#define ANALYZER_LEAKS_LOG_GAMMA_H_

#include <cmath>

namespace vramtrack {

// Returns log Γ(x) for x > 0, by Stirling's series.
inline double LogGamma(double x) {
  double product = 1;
  while (x < 9) product *= x++;
  const double inverse = 1 / x, square = inverse * inverse;
  const double series = inverse * (1.0 / 12 - square * (1.0 / 360 - square * (1.0 / 1260 - square / 1680)));
  return (x - 0.5) * std::log(x) - x + 0.91893853320467274178 + series - std::log(product);
}

// Returns log(Γ(x + n) / Γ(x)), where n is a whole number: x (x + 1) … (x + n - 1).
inline double LogRising(double x, double n) {
  if (n <= 0) return 0;
  if (n <= 8) {
    double product = x;
    for (double i = 1; i < n; ++i) product *= x + i;
    return std::log(product);
  }
  return LogGamma(x + n) - LogGamma(x);
}

inline double LogFactorial(double n) { return LogGamma(n + 1); }
inline double LogBeta(double a, double b) { return LogGamma(a) + LogGamma(b) - LogGamma(a + b); }

}  // namespace vramtrack

#endif  // ANALYZER_LEAKS_LOG_GAMMA_H_
