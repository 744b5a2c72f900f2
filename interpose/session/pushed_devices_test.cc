// SPDX-License-Identifier: Apache-2.0
#include "interpose/session/session.h"

#include <gtest/gtest.h>

namespace vramtrack {
namespace {

TEST(PushedDevices, ComeBackInReverseOrder) {
  PushedDevices pushed = {};
  uint32_t device = 9;
  EXPECT_FALSE(pushed.Pop(&device));
  pushed.Push(1);
  pushed.Push(2);
  EXPECT_TRUE(pushed.Pop(&device));
  EXPECT_EQ(device, 2u);
  EXPECT_TRUE(pushed.Pop(&device));
  EXPECT_EQ(device, 1u);
  EXPECT_FALSE(pushed.Pop(&device));
}

// A stack may be deeper than a byte can count.
TEST(PushedDevices, TheFirstOnesAreKeptHoweverManyFollow) {
  constexpr uint32_t kDepth = 300;
  PushedDevices pushed = {};
  for (uint32_t i = 0; i < kDepth; ++i) pushed.Push(i % 100);
  uint32_t device = 0;
  for (uint32_t i = kDepth; i-- > PushedDevices::kKept;) EXPECT_FALSE(pushed.Pop(&device)) << i;
  for (uint32_t i = PushedDevices::kKept; i-- > 0;) {
    ASSERT_TRUE(pushed.Pop(&device));
    EXPECT_EQ(device, i);
  }
  EXPECT_FALSE(pushed.Pop(&device));
}

}  // namespace
}  // namespace vramtrack
