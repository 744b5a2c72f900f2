// SPDX-License-Identifier: Apache-2.0
#include "cupti_tracer/buffer_pool.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cstdlib>

namespace vramtrack::cupti {
namespace {

TEST(BufferPool, GrowsToItsLimit) {
  static BufferPool pool;
  for (size_t i = 0; i < BufferPool::kMost; ++i) ASSERT_TRUE(pool.Grow()) << i;
  EXPECT_FALSE(pool.Grow());
  EXPECT_EQ(pool.free_count(), BufferPool::kMost);
}

// Memory that could not be had once may be had later: failures do not use up the pool's limit.
[[noreturn]] void GrowAfterFailures() {
  static BufferPool pool;
  rlimit before, none;
  getrlimit(RLIMIT_AS, &before);
  none = {0, before.rlim_max};
  setrlimit(RLIMIT_AS, &none);
  bool good = true;
  for (size_t i = 0; i < 2 * BufferPool::kMost; ++i) good = good && !pool.Grow();
  setrlimit(RLIMIT_AS, &before);
  for (size_t i = 0; i < BufferPool::kMost; ++i) good = good && pool.Grow();
  _Exit(good && !pool.Grow() ? 0 : 1);
}

TEST(BufferPool, FailuresDoNotCount) { EXPECT_EXIT(GrowAfterFailures(), testing::ExitedWithCode(0), ""); }

}  // namespace
}  // namespace vramtrack::cupti
