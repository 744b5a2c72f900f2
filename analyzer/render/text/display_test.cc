// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <initializer_list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/base/display_text.h"
#include "analyzer/base/function_name.h"
#include "analyzer/base/quantity.h"
#include "analyzer/render/text/chart.h"
#include "analyzer/render/text/page.h"

namespace vramtrack {
namespace {

TEST(Quantity, BytesHaveThreeDigitsThatCount) {
  EXPECT_EQ(FormatByteCount(0), "0 B");
  EXPECT_EQ(FormatByteCount(512), "512 B");
  EXPECT_EQ(FormatByteCount(0.25), "0.25 B");
  EXPECT_EQ(FormatByteCount(4 << 20), "4.00 MiB");
  EXPECT_EQ(FormatByteCount(80.0 * (1 << 30)), "80.0 GiB");
  EXPECT_EQ(FormatByteCount(612.0 * (1 << 20)), "612 MiB");
  EXPECT_EQ(FormatByteCount(1023.9 * 1024), "1.00 MiB");
  EXPECT_EQ(FormatByteCount(-1536), "-1.50 KiB");
  EXPECT_EQ(FormatByteCount(18446744073709551615.0), "16.0 EiB");
  EXPECT_EQ(FormatByteRange(3.99 * (1 << 20), 4.01 * (1 << 20)), "3.99 to 4.01 MiB");
  EXPECT_EQ(FormatByteRange(900 * 1024, 1.2 * (1 << 20)), "900 KiB to 1.20 MiB");
}

TEST(Quantity, CountsHaveCommasAndEstimatesAreRounded) {
  EXPECT_EQ(FormatCount(7), "7");
  EXPECT_EQ(FormatCount(123), "123");
  EXPECT_EQ(FormatCount(1234567), "1,234,567");
  EXPECT_EQ(FormatAbout(19432.25), "19,400");
  EXPECT_EQ(FormatAbout(2.5), "2.5");
  EXPECT_EQ(FormatAbout(999.6), "1,000");
  EXPECT_EQ(FormatSeconds(0.0051), "5.1 ms");
  EXPECT_EQ(FormatSeconds(0.421), "0.421 s");
  EXPECT_EQ(FormatSeconds(200), "3 min 20 s");
  EXPECT_EQ(FormatSeconds(18720), "5 h 12 min");
  EXPECT_EQ(FormatTimeToFull(0.5), "full already");
}

TEST(DisplayText, WhatIsNoTextBecomesVisible) {
  EXPECT_EQ(Printable("plain \xc3\xa9"), "plain \xc3\xa9");
  EXPECT_EQ(Printable("a\nb\x1b[31m\x7f"), "a\\x0ab\\x1b[31m\\x7f");
  EXPECT_EQ(Printable("\xff\xc0\xaf"), "\\xff\\xc0\\xaf");
  EXPECT_EQ(Printable("\xe2\x80\xae"), "\\u{202e}");
  EXPECT_EQ(Printable("  ##[error]::x"), "  \\x23#[error]::x");
  EXPECT_EQ(Printable("::stop-commands::x"), "\\x3a:stop-commands::x");
  EXPECT_EQ(Printable("cut \xe5\xbc"), "cut \\xe5\\xbc");
}

TEST(DisplayText, WidthIsCountedInColumns) {
  EXPECT_EQ(DisplayWidth("abc"), 3);
  EXPECT_EQ(DisplayWidth("\xe5\xbc\xa0\xe4\xbc\x9f"), 4);
  EXPECT_EQ(DisplayWidth("e\xcc\x81"), 1);
  EXPECT_EQ(DisplayWidth("\x1b[1;31mred\x1b[0m"), 3);
  EXPECT_EQ(CutBeginning("/long/path/file.cu:7", 12), "...file.cu:7");
  EXPECT_EQ(CutEnd("something long", 9), "someth...");
  EXPECT_EQ(PadLeft("7", 3), "  7");
}

TEST(DisplayText, WordsAreWrapped) {
  EXPECT_EQ(Wrap("one two three", 7), (std::vector<std::string>{"one two", "three"}));
  EXPECT_EQ(Wrap("unbreakable", 4), (std::vector<std::string>{"unbreakable"}));
  EXPECT_EQ(Wrap("it has 99 % of 2 MiB, or so", 10),
            (std::vector<std::string>{"it has", "99 % of", "2 MiB, or", "so"}));
}

TEST(FunctionName, KeepsWhatTellsFunctionsApart) {
  EXPECT_EQ(ShortFunctionName("main"), "main");
  EXPECT_EQ(ShortFunctionName("void a::b::Attention<float, 64>::Forward(float const*, int)"), "Attention::Forward");
  EXPECT_EQ(ShortFunctionName("std::vector<int, std::allocator<int> >::push_back(int const&)"), "vector::push_back");
  EXPECT_EQ(ShortFunctionName("(anonymous namespace)::Helper(int) [clone .isra.0]"), "Helper");
  EXPECT_EQ(ShortFunctionName("at::Tensor at::native::empty_cuda(c10::ArrayRef<long>)"), "native::empty_cuda");
  EXPECT_EQ(ShortFunctionName("Foo::Bar(int)::{lambda(int)#1}::operator()(int) const"), "{lambda}::operator()");
  EXPECT_EQ(ShortFunctionName("Buffer::operator[](unsigned long) const"), "Buffer::operator[]");
  EXPECT_EQ(ShortFunctionName("std::ostream& std::operator<< <char>(std::ostream&, char)"), "std::operator<<");
  EXPECT_EQ(ShortFunctionName("Buffer::operator float*() const"), "Buffer::operator float*");
  EXPECT_EQ(ShortFunctionName("operator new(unsigned long)"), "operator new");
  EXPECT_EQ(ShortFunctionName("Buffer::~Buffer()"), "Buffer::~Buffer");
  EXPECT_EQ(ShortFunctionName("operators::Run()"), "operators::Run");
  EXPECT_EQ(ShortFunctionName("<module>"), "<module>");
  EXPECT_EQ(ShortFunctionName("a::b<(x)1>::c(void (*)(int))"), "b::c");
  EXPECT_EQ(ShortFunctionName(""), "");
  EXPECT_EQ(ShortFunctionName("broken<(((("), "broken");
}

TEST(Chart, ShowsThePeakAndNothingBelowZero) {
  ReportTimeline timeline;
  for (int i = 0; i < 1000; ++i) {
    timeline.position.push_back(i);
    timeline.live.high.push_back(i == 500 ? 1000000 : 10);
  }
  TextStyle style;
  style.columns = 60;
  std::vector<std::string> lines = Chart(style, timeline, timeline.live, 3);
  ASSERT_EQ(lines.size(), 5u);
  size_t peak = lines[3].find('^');
  ASSERT_NE(peak, std::string::npos);
  for (int row = 0; row < 3; ++row) EXPECT_EQ(lines[row][peak], '#');
  EXPECT_EQ(lines[2][peak - 1], '_');
  EXPECT_EQ(Chart(style, ReportTimeline(), ReportTimeline::Series(), 3).size(), 0u);
}

// Environment variables as they were, when it goes.
class SavedVariables {
 public:
  explicit SavedVariables(std::initializer_list<const char*> names) {
    for (const char* name : names) {
      const char* value = getenv(name);
      saved_.emplace_back(name, value != nullptr ? std::optional<std::string>(value) : std::nullopt);
      unsetenv(name);
    }
  }
  ~SavedVariables() {
    for (const auto& [name, value] : saved_) {
      unsetenv(name);
      if (value) setenv(name, value->c_str(), 1);
    }
  }

 private:
  std::vector<std::pair<const char*, std::optional<std::string>>> saved_;
};

class Terminal : public testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(pipe(pipes), 0); }
  void TearDown() override {
    close(pipes[0]);
    close(pipes[1]);
  }
  const SavedVariables saved_{"COLUMNS", "LANG", "LC_ALL", "LC_CTYPE"};
  int pipes[2];
};

TEST_F(Terminal, FollowsTheEnvironment) {
  setenv("LANG", "C", 1);
  TextStyle style = DetectStyle(pipes[1], ColorMode::kAuto);
  EXPECT_EQ(style.columns, 100);
  EXPECT_FALSE(style.unicode);
  EXPECT_FALSE(style.color);
  setenv("COLUMNS", "92", 1);
  setenv("LANG", "de_DE.UTF-8", 1);
  style = DetectStyle(pipes[1], ColorMode::kAlways);
  EXPECT_EQ(style.columns, 92);
  EXPECT_TRUE(style.unicode);
  EXPECT_TRUE(style.color);
  setenv("COLUMNS", "3", 1);
  EXPECT_EQ(DetectStyle(pipes[1], ColorMode::kNever).columns, 80);
}

}  // namespace
}  // namespace vramtrack
