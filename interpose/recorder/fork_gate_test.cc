// SPDX-License-Identifier: Apache-2.0
#include "interpose/recorder/fork_gate.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>

namespace vramtrack {
namespace {

// As long as a thread may be kept from running on a busy machine.
constexpr std::chrono::milliseconds kLong(300);

std::atomic<bool> slow{false}, forking{false}, forked{false};

// Handlers that are registered first run last before a fork and first after it.
void BeforeFork() {
  if (!slow.load()) return;
  forking.store(true);
  std::this_thread::sleep_for(kLong);
}

void AfterFork() { forked.store(true); }

class ForkGateTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    pthread_atfork(BeforeFork, AfterFork, nullptr);
    ForkGate::Install();
  }

  // Returns the exit code of a child that ends with what `condition` says.
  template <typename Condition>
  static int Fork(Condition condition) {
    const pid_t child = fork();
    if (child == 0) _exit(condition() ? 0 : 1);
    int status = -1;
    waitpid(child, &status, 0);
    return WEXITSTATUS(status);
  }
};

TEST_F(ForkGateTest, AForkWaitsUntilNoThreadIsInside) {
  std::atomic<bool> inside{false}, left{false};
  std::thread thread([&] {
    ForkGate::Enter();
    ForkGate::Enter();
    inside.store(true);
    std::this_thread::sleep_for(kLong);
    ForkGate::Leave();
    left.store(true);
    ForkGate::Leave();
  });
  while (!inside.load()) std::this_thread::yield();
  EXPECT_EQ(Fork([&] { return left.load(); }), 0);
  thread.join();
}

TEST_F(ForkGateTest, AThreadGoesInAfterAFork) {
  slow.store(true);
  forked.store(false);
  bool waited = false;
  std::thread thread([&] {
    while (!forking.load()) std::this_thread::yield();
    const ForkGateHolder hold;
    waited = forked.load();
  });
  EXPECT_EQ(Fork([] { return true; }), 0);
  thread.join();
  slow.store(false);
  EXPECT_TRUE(waited);
}

TEST_F(ForkGateTest, AThreadInsideMayForkItself) {
  const ForkGateHolder hold;
  EXPECT_EQ(Fork([] {
              ForkGate::Enter();
              ForkGate::Leave();
              return true;
            }),
            0);
}

}  // namespace
}  // namespace vramtrack
