// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_BASE_ORDERED_WORK_H_
#define ANALYZER_BASE_ORDERED_WORK_H_

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace vramtrack {

// Returns how many processors to use, at least 1. `wanted`: 0 for all that the machine has.
inline size_t ProcessorsToUse(size_t wanted) {
  return wanted != 0 ? wanted : std::max(1u, std::thread::hardware_concurrency());
}

// Runs pieces of work in parallel and returns the results in order. The number of results that wait to be taken is
// limited, so memory does not grow with the number of pieces. One thread calls Take(), and works while it waits.
template <class Result>
class OrderedWork {
 public:
  // Calls `work` from several threads, once for each number below `count`. `threads`: at least 1, including the thread
  // that calls Take().
  OrderedWork(size_t count, size_t threads, std::function<Result(size_t)> work)
      : work_(std::move(work)), done_(count), most_ahead_(2 * threads) {
    for (size_t i = 1; i < threads; ++i) {
      try {
        threads_.emplace_back([this] { Work(); });
      } catch (const std::system_error&) {
        break;  // the other threads do the work
      }
    }
  }
  ~OrderedWork() {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      next_ = done_.size();
    }
    changed_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }
  OrderedWork(const OrderedWork&) = delete;
  OrderedWork& operator=(const OrderedWork&) = delete;

  // Waits for the next result and returns it. May be called at most `count` times.
  Result Take() {
    std::unique_lock<std::mutex> lock(mutex_);
    const size_t wanted = taken_++;
    changed_.notify_all();
    while (!done_[wanted]) {
      if (!WorkOnNext(&lock)) changed_.wait(lock);
    }
    Result result = *std::move(done_[wanted]);
    done_[wanted].reset();
    return result;
  }

 private:
  void Work() {
    std::unique_lock<std::mutex> lock(mutex_);
    while (next_ < done_.size()) {
      if (!WorkOnNext(&lock)) changed_.wait(lock);
    }
  }

  // Does the next piece of work. Returns false if there is nothing to do at the moment.
  bool WorkOnNext(std::unique_lock<std::mutex>* lock) {
    if (next_ == done_.size() || next_ >= taken_ + most_ahead_) return false;
    const size_t mine = next_++;
    lock->unlock();
    Result result = work_(mine);
    lock->lock();
    done_[mine] = std::move(result);
    changed_.notify_all();
    return true;
  }

  const std::function<Result(size_t)> work_;
  std::mutex mutex_;
  std::condition_variable changed_;
  // Guarded by mutex_.
  std::vector<std::optional<Result>> done_;
  size_t next_ = 0, taken_ = 0;
  const size_t most_ahead_;
  std::vector<std::thread> threads_;
};

}  // namespace vramtrack

#endif  // ANALYZER_BASE_ORDERED_WORK_H_
