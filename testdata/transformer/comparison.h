// SPDX-License-Identifier: Apache-2.0
#ifndef TESTDATA_TRANSFORMER_COMPARISON_H_
#define TESTDATA_TRANSFORMER_COMPARISON_H_

#include <cstddef>
#include <cstdio>
#include <string>
#include <vector>

namespace transformer {

// Counts values that differ from the expected values by more than `absolute` + `relative` * |expected|. NaN always
// differs.
class Comparison {
 public:
  Comparison(std::string name, double relative, double absolute);

  void Expect(double actual, double expected, const std::string& what);
  void ExpectAll(const std::vector<float>& actual, const std::vector<double>& expected, const std::string& what);

  // Prints one line on `out` and returns the number of mismatches.
  int Report(std::FILE* out) const;

 private:
  const std::string name_;
  const double relative_;
  const double absolute_;
  int values_ = 0;
  int mismatches_ = 0;
  double largest_error_ = 0.0;
  std::string first_;
};

}  // namespace transformer

#endif  // TESTDATA_TRANSFORMER_COMPARISON_H_
