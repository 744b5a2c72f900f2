// SPDX-License-Identifier: Apache-2.0
#include "analyzer/cli/limited_work.h"

#include <condition_variable>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

namespace vramtrack {
namespace {

struct State {
  std::mutex mutex;
  std::condition_variable done_changed;
  bool done = false;  // guarded by mutex
};

}  // namespace

bool EndsWithin(std::chrono::duration<double> limit, std::function<void()> work) {
  const auto state = std::make_shared<State>();
  try {
    std::thread([state, work] {
      work();
      const std::lock_guard<std::mutex> lock(state->mutex);
      state->done = true;
      state->done_changed.notify_one();
    }).detach();
  } catch (const std::system_error&) {
    work();
    return true;
  }
  std::unique_lock<std::mutex> lock(state->mutex);
  return state->done_changed.wait_for(lock, limit, [&state] { return state->done; });
}

}  // namespace vramtrack
