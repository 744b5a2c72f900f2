// SPDX-License-Identifier: Apache-2.0
#include "analyzer/check/limits.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace vramtrack {
namespace {

double Bytes(const std::string& text, LimitUnit unit = LimitUnit::kBytes) {
  const absl::StatusOr<Limit> limit = ParseLimit(text, unit);
  EXPECT_TRUE(limit.ok()) << text << ": " << limit.status();
  return limit.ok() ? limit->value : -1;
}

std::string Mistake(const std::string& text, LimitUnit unit = LimitUnit::kBytes) {
  const absl::StatusOr<Limit> limit = ParseLimit(text, unit);
  EXPECT_FALSE(limit.ok()) << text;
  return std::string(limit.status().message());
}

TEST(LimitText, ReadsSizes) {
  EXPECT_EQ(Bytes("2 GiB"), 2147483648.0);
  EXPECT_EQ(Bytes("2GiB"), 2147483648.0);
  EXPECT_EQ(Bytes(" 1.5 MiB "), 1572864.0);
  EXPECT_EQ(Bytes("2G"), 2147483648.0);
  EXPECT_EQ(Bytes("80 GB"), 80e9);
  EXPECT_EQ(Bytes("500 kb"), 500e3);
  EXPECT_EQ(Bytes("12345 B"), 12345);
  EXPECT_EQ(Bytes("0"), 0);
  EXPECT_EQ(Bytes("0 B"), 0);
}

TEST(LimitText, ReadsRatesSharesAndCounts) {
  EXPECT_EQ(Bytes("500 MiB/step", LimitUnit::kBytesPerStep), 524288000.0);
  EXPECT_EQ(Bytes("64 KiB per step", LimitUnit::kBytesPerStep), 65536);
  EXPECT_EQ(Bytes("64KiB", LimitUnit::kBytesPerStep), 65536);
  EXPECT_EQ(Bytes("0.5/step", LimitUnit::kObjectsPerStep), 0.5);
  EXPECT_EQ(Bytes("16 MiB/GiB", LimitUnit::kBytesPerStep), 16777216);
  EXPECT_EQ(ParseLimit("16 MiB/GiB", LimitUnit::kBytesPerStep)->per, RatePer::kGiB);
  EXPECT_EQ(ParseLimit("16 MiB per GiB allocated", LimitUnit::kBytesPerStep)->per, RatePer::kGiB);
  EXPECT_EQ(ParseLimit("4KiB/s", LimitUnit::kBytesPerStep)->per, RatePer::kSecond);
  EXPECT_EQ(ParseLimit("4KiB", LimitUnit::kBytesPerStep)->per, RatePer::kStep);
  EXPECT_FALSE(ParseLimit("4KiB/s", LimitUnit::kBytes).ok());
  EXPECT_EQ(FormatLimit(*ParseLimit("4KiB/s", LimitUnit::kBytesPerStep), LimitUnit::kBytesPerStep),
            "4.00 KiB per second");
  EXPECT_EQ(Bytes("100000", LimitUnit::kSteps), 100000);
  const absl::StatusOr<Limit> share = ParseLimit("15 %", LimitUnit::kBytesOrShare);
  ASSERT_TRUE(share.ok());
  EXPECT_TRUE(share->share);
  EXPECT_DOUBLE_EQ(share->value, .15);
  EXPECT_FALSE(ParseLimit("2 GiB", LimitUnit::kBytesOrShare)->share);
  EXPECT_EQ(Bytes("90", LimitUnit::kSeconds), 90);
  EXPECT_EQ(Bytes("90 s", LimitUnit::kSeconds), 90);
  EXPECT_EQ(Bytes("1.5min", LimitUnit::kSeconds), 90);
  EXPECT_EQ(Bytes("2 h", LimitUnit::kSeconds), 7200);
  for (const char* wrong : {"2 GiB", "5 %", "2 m", "1/s", "-1", "1 h 30 min"}) Mistake(wrong, LimitUnit::kSeconds);
  for (const char* wrong : {"2 h", "90 s"}) Mistake(wrong, LimitUnit::kSteps);
}

TEST(LimitText, SaysWhatIsWrong) {
  EXPECT_EQ(Mistake("10GiBs"), "invalid size '10GiBs' (examples: 500 MiB, 2 GiB)");
  EXPECT_EQ(Mistake("10 MiB/step"), "invalid size '10 MiB/step' (examples: 500 MiB, 2 GiB)");
  EXPECT_EQ(Mistake("many", LimitUnit::kSteps), "invalid number of steps 'many' (examples: 1000, 100000)");
  EXPECT_EQ(Mistake("110 %", LimitUnit::kBytesOrShare), "invalid size or percentage '110 %' (too large)");
  EXPECT_EQ(Mistake("99999999 TiB"), "invalid size '99999999 TiB' (too large)");
  // Bytes need a unit, and are needed with each kind of limit on bytes.
  for (LimitUnit unit : {LimitUnit::kBytes, LimitUnit::kBytesPerStep, LimitUnit::kBytesOrShare}) {
    Mistake("12345", unit);
    EXPECT_FALSE(LimitOfNumber(12345, unit).ok());
    EXPECT_TRUE(LimitOfNumber(0, unit).ok());
    EXPECT_EQ(Bytes("0", unit), 0);
  }
  for (const char* wrong : {"", " ", "-1", "-0", "nan", "inf", "1e999", "0x10", "GiB", "1 GiB 2", "1,5 GiB", "%", "5 %",
                            "1..5", "/step", "\xff\xfe", "1\n2"}) {
    Mistake(wrong);
  }
}

TEST(LimitText, StandsAnyBytes) {
  std::mt19937 random(1);
  const std::string alphabet = "0123456789.eE+-kKmMgGtTiIbB/step %\t\n\xff";
  for (int i = 0; i < 20000; ++i) {
    std::string text;
    for (size_t length = random() % 12; text.size() < length;) text += alphabet[random() % alphabet.size()];
    for (const LimitUnit unit :
         {LimitUnit::kBytes, LimitUnit::kBytesPerStep, LimitUnit::kBytesOrShare, LimitUnit::kSeconds}) {
      const absl::StatusOr<Limit> limit = ParseLimit(text, unit);
      if (!limit.ok()) continue;
      EXPECT_GE(limit->value, 0) << text;
      EXPECT_LE(limit->value, 9007199254740992.0) << text;
    }
  }
}

TEST(Day, IsOneOfTheCalendar) {
  EXPECT_EQ(*ParseDay("2026-12-31"), absl::CivilDay(2026, 12, 31));
  for (const char* wrong : {"", "2026-02-30", "2026-13-01", "31.12.2026", "2026-1-1", "2026-12-31 ", "today"}) {
    EXPECT_FALSE(ParseDay(wrong).ok()) << wrong;
  }
}

}  // namespace
}  // namespace vramtrack
