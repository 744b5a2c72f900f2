// SPDX-License-Identifier: Apache-2.0
#include "analyzer/cli/progress.h"

#include <gtest/gtest.h>

#include <future>
#include <memory>

namespace vramtrack {
namespace {

TEST(EndsWithin, WaitsForWorkThatEnds) {
  int done = 0;
  EXPECT_TRUE(EndsWithin(std::chrono::hours(1), [&done] { done = 1; }));
  EXPECT_EQ(done, 1);
}

TEST(EndsWithin, LeavesWorkThatDoesNotEnd) {
  std::promise<void> begin;
  std::promise<void> ended;
  std::shared_future<void> may_begin = begin.get_future().share();
  EXPECT_FALSE(EndsWithin(std::chrono::seconds(0), [may_begin, &ended] {
    may_begin.wait();
    ended.set_value();
  }));
  // It is not stopped.
  begin.set_value();
  ended.get_future().wait();
}

}  // namespace
}  // namespace vramtrack
