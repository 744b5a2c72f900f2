// SPDX-License-Identifier: Apache-2.0
#include "analyzer/job/rank_votes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

namespace vramtrack {
namespace {

TEST(PooledRate, StudentsFactorsAreThoseOfTheTables) {
  EXPECT_NEAR(StudentFactor(1), 12.7062047362, 1e-9);
  EXPECT_NEAR(StudentFactor(2), 4.3026527297, 1e-9);
  EXPECT_NEAR(StudentFactor(3), 3.1824463053, 1e-9);
  EXPECT_NEAR(StudentFactor(10), 2.2281388520, 1e-9);
  EXPECT_NEAR(StudentFactor(30), 2.0422724563, 1e-9);
  EXPECT_NEAR(StudentFactor(200), 1.9718962236, 1e-9);
  EXPECT_NEAR(StudentFactor(201), StudentFactor(200), 1e-4);
  EXPECT_NEAR(StudentFactor(1000), 1.9623390808, 1e-7);
  EXPECT_NEAR(StudentFactor(9999), 1.9602012398, 1e-7);
}

TEST(PooledRate, ExactRatesThatAreTheSameHaveAnIntervalOfNoWidth) {
  const double rate = 4000.0 / 3;
  const ReportAcross::Rate pooled = PoolRates(std::vector<RankRate>(7, {rate, rate, rate}));
  EXPECT_EQ(pooled.mean, rate);
  EXPECT_EQ(pooled.ci_low, rate);
  EXPECT_EQ(pooled.ci_high, rate);
  EXPECT_EQ(pooled.standard_deviation, 0);
}

TEST(PooledRate, OfOneRankItIsItsOwn) {
  const ReportAcross::Rate pooled = PoolRates({{10, 9, 14}});
  EXPECT_EQ(pooled.mean, 10);
  EXPECT_EQ(pooled.ci_low, 9);
  EXPECT_EQ(pooled.ci_high, 14);
}

TEST(PooledRate, TheLargerVarianceDecides) {
  // The ranks are apart, and know it exactly: two degrees of freedom.
  const ReportAcross::Rate apart = PoolRates({{10, 10, 10}, {12, 12, 12}, {14, 14, 14}});
  EXPECT_NEAR(apart.ci_high - apart.mean, 4.3026527297 * 2 / std::sqrt(3), 1e-9);
  EXPECT_EQ(apart.median, 12);
  EXPECT_EQ(apart.least, 10);
  EXPECT_EQ(apart.most, 14);
  EXPECT_DOUBLE_EQ(apart.standard_deviation, 2);
  // They agree, and know it badly: the mean of four is half as uncertain as each.
  const ReportAcross::Rate unsure = PoolRates(std::vector<RankRate>(4, {10, 6, 14}));
  EXPECT_NEAR(unsure.ci_low, 8, 1e-12);
  EXPECT_NEAR(unsure.ci_high, 12, 1e-12);
}

TEST(PooledRate, AgreesWithTheFormulas) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 200; ++round) {
    std::vector<RankRate> rates;
    const size_t ranks = 2 + random() % 60;
    const double spread = static_cast<double>(random() % 100), width = static_cast<double>(random() % 100);
    for (size_t i = 0; i < ranks; ++i) {
      const double rate = 1000 + spread * static_cast<double>(random() % 1000) / 1000;
      rates.push_back({rate, rate - width, rate + width / 2});
    }
    const ReportAcross::Rate pooled = PoolRates(rates);
    long double mean = 0, squares = 0, own = 0;
    for (const RankRate& rate : rates) mean += static_cast<long double>(rate.rate) / static_cast<long double>(ranks);
    for (const RankRate& rate : rates) {
      squares += (rate.rate - mean) * (rate.rate - mean);
      const long double error = (rate.high - rate.low) / 2 / 1.959963984540054L;
      own += error * error;
    }
    const long double n = static_cast<long double>(ranks);
    const double by_spread = static_cast<double>(std::sqrt(squares / (n - 1) / n));
    const double by_own = static_cast<double>(std::sqrt(own) / n);
    const double half = by_spread >= by_own ? StudentFactor(ranks - 1) * by_spread : 1.959963984540054 * by_own;
    EXPECT_NEAR(pooled.mean, static_cast<double>(mean), 1e-9);
    EXPECT_NEAR(pooled.ci_low, static_cast<double>(mean) - half, 1e-6);
    EXPECT_NEAR(pooled.ci_high, static_cast<double>(mean) + half, 1e-6);
    EXPECT_NEAR(pooled.standard_deviation, static_cast<double>(std::sqrt(squares / (n - 1))), 1e-6);
  }
}

TEST(PooledRate, TheIntervalHoldsTheTruthAsOftenAsItSays) {
  std::mt19937_64 random(2);
  std::normal_distribution<double> noise(0, 3);
  constexpr int kRounds = 4000;
  int within = 0;
  for (int round = 0; round < kRounds; ++round) {
    std::vector<RankRate> rates;
    for (int rank = 0; rank < 5; ++rank) {
      const double rate = 100 + noise(random);
      rates.push_back({rate, rate, rate});
    }
    const ReportAcross::Rate pooled = PoolRates(rates);
    within += pooled.ci_low <= 100 && 100 <= pooled.ci_high;
  }
  EXPECT_NEAR(within / static_cast<double>(kRounds), 0.95, 0.015);
}

}  // namespace
}  // namespace vramtrack
