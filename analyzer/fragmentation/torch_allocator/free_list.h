// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_FRAGMENTATION_TORCH_ALLOCATOR_FREE_LIST_H_
#define ANALYZER_FRAGMENTATION_TORCH_ALLOCATOR_FREE_LIST_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace vramtrack::torch_allocator {

// A free block, in the order in which the allocator looks for room.
struct FreeKey {
  uint64_t bytes = 0;
  uint32_t age = 0;  // of its segment; 0 where it does not count
  uint32_t id = 0;   // no part of the order
  uint64_t address = 0;

  bool operator<(const FreeKey& other) const {
    if (bytes != other.bytes) return bytes < other.bytes;
    return age != other.age ? age < other.age : address < other.address;
  }
};

// A sorted set of free blocks. They are kept in short sorted arrays: a program has tens or hundreds of free blocks and
// changes the set at each request, and moving a few of them is cheaper than the nodes of a tree. Thread-compatible.
class FreeList {
 public:
  class Iterator {
   public:
    const FreeKey& operator*() const { return list_->runs_[run_]->keys[at_]; }
    const FreeKey* operator->() const { return &**this; }
    Iterator& operator++() {
      if (++at_ == list_->runs_[run_]->count) {
        ++run_;
        at_ = 0;
      }
      return *this;
    }
    bool operator==(const Iterator& other) const { return run_ == other.run_ && at_ == other.at_; }
    bool operator!=(const Iterator& other) const { return !(*this == other); }

   private:
    friend class FreeList;
    Iterator(const FreeList* list, size_t run, uint32_t at) : list_(list), run_(run), at_(at) {}

    const FreeList* list_;
    size_t run_;
    uint32_t at_;
  };

  bool empty() const { return runs_.empty(); }
  Iterator begin() const { return {this, 0, 0}; }
  Iterator end() const { return {this, runs_.size(), 0}; }
  const FreeKey& largest() const { return runs_.back()->keys[runs_.back()->count - 1]; }

  // The first that is not less than `key`.
  Iterator LowerBound(const FreeKey& key) const {
    const size_t run = RunOf(key);
    return {this, run, run < runs_.size() ? LowerBound(*runs_[run], key) : 0};
  }
  // The smallest that has room for so much.
  Iterator AtLeast(uint64_t bytes) const { return LowerBound({bytes, 0, 0, 0}); }

  void Insert(const FreeKey& key) {
    if (runs_.empty()) {
      runs_.push_back(NewRun());
      runs_[0]->count = 1;
      runs_[0]->keys[0] = key;
      return;
    }
    size_t run = std::min(RunOf(key), runs_.size() - 1);
    if (runs_[run]->count == kRunKeys) {
      Split(run);
      run += runs_[run]->keys[runs_[run]->count - 1] < key;
    }
    Run& to = *runs_[run];
    const uint32_t at = LowerBound(to, key);
    FreeKey* const keys = to.keys.data();
    std::move_backward(keys + at, keys + to.count, keys + to.count + 1);
    to.keys[at] = key;
    ++to.count;
  }

  void Erase(Iterator at) {
    Run& run = *runs_[at.run_];
    FreeKey* const keys = run.keys.data();
    std::move(keys + at.at_ + 1, keys + run.count, keys + at.at_);
    if (--run.count > 0) return;
    spare_ = std::move(runs_[at.run_]);
    runs_.erase(runs_.begin() + static_cast<std::ptrdiff_t>(at.run_));
  }
  // It must be there.
  void Erase(const FreeKey& key) { Erase(LowerBound(key)); }

 private:
  static constexpr uint32_t kRunKeys = 64;
  struct Run {
    uint32_t count = 0;
    std::array<FreeKey, kRunKeys> keys;
  };

  // The first run that has a key which is not less.
  size_t RunOf(const FreeKey& key) const {
    size_t first = 0, left = runs_.size();
    while (left > 0) {
      const size_t half = left / 2;
      const Run& run = *runs_[first + half];
      if (run.keys[run.count - 1] < key) {
        first += half + 1;
        left -= half + 1;
      } else {
        left = half;
      }
    }
    return first;
  }

  static uint32_t LowerBound(const Run& run, const FreeKey& key) {
    return static_cast<uint32_t>(std::lower_bound(run.keys.data(), run.keys.data() + run.count, key) - run.keys.data());
  }

  std::unique_ptr<Run> NewRun() {
    if (spare_ == nullptr) return std::make_unique<Run>();
    spare_->count = 0;
    return std::move(spare_);
  }

  void Split(size_t run) {
    std::unique_ptr<Run> upper = NewRun();
    Run& lower = *runs_[run];
    const uint32_t half = lower.count / 2;
    upper->count = lower.count - half;
    std::copy(lower.keys.data() + half, lower.keys.data() + lower.count, upper->keys.data());
    lower.count = half;
    runs_.insert(runs_.begin() + static_cast<std::ptrdiff_t>(run) + 1, std::move(upper));
  }

  std::vector<std::unique_ptr<Run>> runs_;  // none is empty
  std::unique_ptr<Run> spare_;
};

}  // namespace vramtrack::torch_allocator

#endif  // ANALYZER_FRAGMENTATION_TORCH_ALLOCATOR_FREE_LIST_H_
