// SPDX-License-Identifier: Apache-2.0
#include "analyzer/leaks/value_fit.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <random>
#include <vector>

namespace vramtrack {
namespace {

constexpr double kMiB = 1 << 20;

// Uniform and normal draws of our own: those of the standard library differ between implementations.
class Chance {
 public:
  explicit Chance(uint64_t seed) : random_(seed) {}
  double Uniform() { return static_cast<double>(random_() >> 11) / 9007199254740992.0; }
  double Normal() {
    double sum = -6;
    for (int i = 0; i < 12; ++i) sum += Uniform();
    return sum;
  }

 private:
  std::mt19937_64 random_;
};

std::vector<ValuedStep> Steps(int count, uint64_t seed, const std::function<double(double value, int step)>& bytes) {
  Chance chance(seed);
  std::vector<ValuedStep> steps;
  for (int i = 0; i < count; ++i) {
    const double value = 128 + std::floor(1920 * chance.Uniform());
    steps.push_back({5.0 + i, value, bytes(value, i)});
  }
  return steps;
}

TEST(ValueFit, IsTheLineThatTheStepsAreOn) {
  const auto peak = [](double value, int) { return 100 * kMiB + 4096 * value; };
  // There is room for 100 MiB and 4,096 bytes for each of 4,000.
  const ReportValueFit fit = FitValues(Steps(40, 1, peak), 100 * kMiB + 4096 * 4000.5);
  ASSERT_TRUE(fit.line.has_value()) << fit.refused;
  EXPECT_NEAR(fit.line->bytes_per_unit, 4096, 1e-3);
  EXPECT_NEAR(fit.line->ci_low, 4096, 1e-3);
  EXPECT_NEAR(fit.line->ci_high, 4096, 1e-3);
  EXPECT_NEAR(fit.line->fixed_bytes, 100 * kMiB, 1);
  EXPECT_NEAR(fit.line->explained, 1, 1e-9);
  EXPECT_EQ(fit.line->bend_value, std::nullopt);
  EXPECT_EQ(fit.line->largest_value, 4000);
  EXPECT_EQ(fit.steps, 40u);
  EXPECT_EQ(FitValues(Steps(40, 1, peak), 1e12).line->largest_value, 4 * fit.most_value);
  EXPECT_EQ(FitValues(Steps(40, 1, peak), 50 * kMiB).line->largest_value, 0);
  EXPECT_EQ(FitValues(Steps(40, 1, peak), std::nullopt).line->largest_value, std::nullopt);
}

TEST(ValueFit, ShortStepsPeakWhereTheirValueDoesNotMatter) {
  const ReportValueFit fit =
      FitValues(Steps(60, 2, [](double value, int) { return std::max(204 * kMiB, 128 * kMiB + 131072 * value); }), {});
  ASSERT_TRUE(fit.line.has_value()) << fit.refused;
  EXPECT_NEAR(fit.line->bytes_per_unit, 131072, 1);
  ASSERT_TRUE(fit.line->bend_value.has_value());
  EXPECT_NEAR(*fit.line->bend_value, 76 * kMiB / 131072, 1);
  EXPECT_NEAR(*fit.line->floor_bytes, 204 * kMiB, kMiB / 1024);
  EXPECT_NEAR(fit.line->fixed_bytes, 128 * kMiB, kMiB / 1024);
}

TEST(ValueFit, ALeakIsNoMatterOfTheValue) {
  const ReportValueFit fit =
      FitValues(Steps(80, 3, [](double value, int step) { return 100 * kMiB + 4096 * value + 2 * kMiB * step; }), {});
  ASSERT_TRUE(fit.line.has_value()) << fit.refused;
  EXPECT_NEAR(fit.line->bytes_per_unit, 4096, 1e-3);
  EXPECT_NEAR(fit.line->explained, 1, 1e-9);
  EXPECT_NEAR(fit.line->fixed_bytes, 100 * kMiB + 79 * 2 * kMiB, 10) << "as of the last step";
}

// Also with residuals that follow each other, as of a cache that fills and empties. That intervals are not wider than
// they need be is seen by those that do not hold.
TEST(ValueFit, IntervalsHold) {
  for (const double memory : {0.0, 0.7}) {
    for (const int count : {30, 200}) {
      int slope = 0, room = 0;
      constexpr int kRuns = 200;
      for (uint64_t seed = 0; seed < kRuns; ++seed) {
        Chance noise(1000 + seed);
        double level = 0;
        const auto peak = [&](double value, int) {
          level = memory * level + std::sqrt(1 - memory * memory) * noise.Normal();
          return 100 * kMiB + 50000 * value + 5 * kMiB * level;
        };
        const double limit = 100 * kMiB + 50000 * 3000;
        const ReportValueFit fit = FitValues(Steps(count, seed, peak), limit);
        ASSERT_TRUE(fit.line.has_value()) << fit.refused;
        slope += fit.line->ci_low <= 50000 && 50000 <= fit.line->ci_high;
        for (int i = 0; i < 40; ++i) peak(0, 0);  // long after
        room += peak(*fit.line->largest_value, 0) <= limit;
      }
      EXPECT_GE(slope, .9 * kRuns) << memory << ", " << count;
      EXPECT_LT(slope, kRuns) << memory << ", " << count;
      EXPECT_GE(room, .95 * kRuns) << memory << ", " << count;
    }
  }
}

TEST(ValueFit, RefusesWhatIsNoLine) {
  const auto refuses = [](const std::vector<ValuedStep>& steps, const char* why) {
    const ReportValueFit fit = FitValues(steps, {});
    EXPECT_FALSE(fit.line.has_value());
    EXPECT_NE(fit.refused.find(why), std::string::npos) << fit.refused << " instead of " << why;
  };
  refuses({}, "only 0 steps");
  refuses(Steps(19, 4, [](double value, int) { return value; }), "only 19 steps");
  refuses(Steps(60, 4, [](double, int) { return 5 * kMiB; }), "the same peak");
  refuses(Steps(60, 4, [](double value, int) { return 5 * kMiB - 10 * value; }), "does not rise");
  refuses(Steps(60, 4, [](double value, int) { return kMiB + value * value; }), "faster");
  refuses(Steps(60, 4, [](double value, int) { return kMiB + 1e5 * std::sqrt(value); }), "more slowly");
  refuses(Steps(60, 4, [](double, int step) { return 5 * kMiB + 786432.0 * step; }), "apart from a trend");
  Chance noise(5);
  refuses(Steps(60, 4, [&](double value, int) { return 100 * kMiB + value + kMiB * noise.Normal(); }), "explains only");
  std::vector<ValuedStep> same, few, near, along;
  for (int i = 0; i < 60; ++i) {
    same.push_back({1.0 * i, 512, kMiB + i});
    few.push_back({1.0 * i, 512.0 * (1 + i % 3), kMiB * (1 + i % 3)});
    near.push_back({1.0 * i, 512.0 + i % 7, kMiB * (1 + i % 7)});
    along.push_back({1.0 * i, 512.0 + 10 * i, kMiB * i});
  }
  refuses(same, "values of the steps: 1;");
  refuses(few, "values of the steps: 3;");
  refuses(near, "less than 10 %");
  refuses(along, "change with the step number");
}

TEST(ValueFit, LongRunsAreJudgedByTheirLastSteps) {
  const ReportValueFit fit = FitValues(
      Steps(9000, 7, [](double value, int step) { return step < 4000 ? 10 * kMiB : kMiB + 4096 * value; }), {});
  ASSERT_TRUE(fit.line.has_value()) << fit.refused;
  EXPECT_EQ(fit.steps, kMostValuedSteps);
  EXPECT_NEAR(fit.line->bytes_per_unit, 4096, 1e-3);
}

}  // namespace
}  // namespace vramtrack
