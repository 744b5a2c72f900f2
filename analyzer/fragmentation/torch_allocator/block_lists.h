// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_FRAGMENTATION_TORCH_ALLOCATOR_BLOCK_LISTS_H_
#define ANALYZER_FRAGMENTATION_TORCH_ALLOCATOR_BLOCK_LISTS_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace vramtrack::torch_allocator {

// The sort key of a free block: the order in which the allocator looks for room.
struct FreeKey {
  uint64_t bytes = 0;
  uint32_t age = 0;  // age of its segment; 0 if the order does not use it
  uint32_t id = 0;   // not compared
  uint64_t address = 0;

  // Without a branch, as the direction of a search cannot be predicted.
  bool operator<(const FreeKey& other) const {
    const int tie = (age < other.age) | ((age == other.age) & (address < other.address));
    return ((bytes < other.bytes) | ((bytes == other.bytes) & tie)) != 0;
  }
};

// A sorted set of free blocks in short sorted arrays: moving a few keys is cheaper than the nodes of a tree.
// Thread-compatible.
class SortedKeys {
 public:
  struct Place {
    size_t run = 0;
    uint32_t at = 0;
  };

  bool empty() const { return runs_.empty(); }
  const FreeKey& operator[](Place place) const { return runs_[place.run]->keys[place.at]; }
  const FreeKey& largest() const { return runs_.back()->keys[runs_.back()->count - 1]; }
  bool IsEnd(Place place) const { return place.run == runs_.size(); }
  Place After(Place place) const {
    return place.at + 1 < runs_[place.run]->count ? Place{place.run, place.at + 1} : Place{place.run + 1, 0};
  }

  // Returns the first key that is not less than `key`.
  Place LowerBound(const FreeKey& key) const {
    const size_t run = RunOf(key);
    return {run, run < runs_.size() ? LowerBound(*runs_[run], key) : 0};
  }

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
    keys[at] = key;
    ++to.count;
  }

  void Erase(Place place) {
    Run& run = *runs_[place.run];
    FreeKey* const keys = run.keys.data();
    std::move(keys + place.at + 1, keys + run.count, keys + place.at);
    if (--run.count > 0) return;
    spare_ = std::move(runs_[place.run]);
    runs_.erase(runs_.begin() + static_cast<std::ptrdiff_t>(place.run));
  }

 private:
  static constexpr uint32_t kRunKeys = 32;
  struct Run {
    uint32_t count = 0;
    std::array<FreeKey, kRunKeys> keys;
  };

  // Returns the first run that has a key not less than `key`.
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
    const FreeKey* first = run.keys.data();
    for (uint32_t left = run.count; left > 1;) {
      const uint32_t half = left / 2;
      first += first[half - 1] < key ? half : 0;
      left -= half;
    }
    return static_cast<uint32_t>(first - run.keys.data()) + (*first < key);
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

  std::vector<std::unique_ptr<Run>> runs_;  // no run is empty
  std::unique_ptr<Run> spare_;
};

// The free blocks of a pool, in order, divided into classes by the three highest bits of their sizes. A program has
// blocks of many sizes and few of each, so most searches look at one or two keys. Thread-compatible.
class FreeList {
 public:
  class Iterator {
   public:
    const FreeKey& operator*() const { return list_->classes_[class_][place_]; }
    const FreeKey* operator->() const { return &**this; }
    Iterator& operator++() {
      place_ = list_->classes_[class_].After(place_);
      if (list_->classes_[class_].IsEnd(place_)) *this = list_->FirstFrom(class_ + 1);
      return *this;
    }
    bool operator==(const Iterator& other) const {
      return class_ == other.class_ && place_.run == other.place_.run && place_.at == other.place_.at;
    }
    bool operator!=(const Iterator& other) const { return !(*this == other); }

   private:
    friend class FreeList;
    Iterator(const FreeList* list, size_t size_class, SortedKeys::Place place)
        : list_(list), class_(size_class), place_(place) {}

    const FreeList* list_;
    size_t class_;
    SortedKeys::Place place_;
  };

  bool empty() const { return begin() == end(); }
  Iterator begin() const { return FirstFrom(0); }
  Iterator end() const { return {this, kClasses, {}}; }
  // Returns the largest block. The list must not be empty.
  const FreeKey& largest() const {
    size_t word = kWords - 1;
    while (used_[word] == 0) --word;
    return classes_[64 * word + 63 - static_cast<size_t>(__builtin_clzll(used_[word]))].largest();
  }

  // Returns the smallest block that has at least `bytes`.
  Iterator AtLeast(uint64_t bytes) const {
    const size_t size_class = ClassOf(bytes);
    const SortedKeys& keys = classes_[size_class];
    const SortedKeys::Place place = keys.LowerBound({bytes, 0, 0, 0});
    return keys.IsEnd(place) ? FirstFrom(size_class + 1) : Iterator(this, size_class, place);
  }

  void Insert(const FreeKey& key) {
    const size_t size_class = ClassOf(key.bytes);
    classes_[size_class].Insert(key);
    used_[size_class / 64] |= uint64_t{1} << size_class % 64;
  }
  void Erase(Iterator at) { Erase(at.class_, at.place_); }
  // Removes `key`, which must be in the list.
  void Erase(const FreeKey& key) {
    const size_t size_class = ClassOf(key.bytes);
    Erase(size_class, classes_[size_class].LowerBound(key));
  }

 private:
  static constexpr size_t kWords = 7, kClasses = 64 * kWords;
  static constexpr int kLeastBits = 9;  // 512 bytes; only damaged traces have smaller blocks

  static size_t ClassOf(uint64_t bytes) {
    const int top = 63 - __builtin_clzll(bytes | 1);
    if (top < kLeastBits) return 0;
    return static_cast<size_t>(top - kLeastBits) * 8 + (bytes >> (top - 3) & 7);
  }

  Iterator FirstFrom(size_t size_class) const {
    size_t word = size_class / 64;
    if (word == kWords) return end();
    uint64_t bits = used_[word] & ~uint64_t{0} << size_class % 64;
    while (bits == 0) {
      if (++word == kWords) return end();
      bits = used_[word];
    }
    return {this, 64 * word + static_cast<size_t>(__builtin_ctzll(bits)), {}};
  }

  void Erase(size_t size_class, SortedKeys::Place place) {
    classes_[size_class].Erase(place);
    if (classes_[size_class].empty()) used_[size_class / 64] &= ~(uint64_t{1} << size_class % 64);
  }

  std::array<uint64_t, kWords> used_ = {};  // the classes that are not empty
  std::vector<SortedKeys> classes_ = std::vector<SortedKeys>(kClasses);
};

// Segments divided into blocks. Each block knows its neighbours. The free blocks of a pool are sorted by size, then by
// the age of the segment if the allocator uses it, then by address: the order in which the allocator looks for room.
// Thread-compatible.
class BlockLists {
 public:
  using Id = uint32_t;
  static constexpr Id kNone = UINT32_MAX;

  struct Block {
    uint64_t address = 0, bytes = 0;
    Id previous = kNone, next = kNone;  // neighbours in the same segment
    uint32_t pool = 0, segment = 0;     // numbers that the owner chooses
    uint32_t age = 0;                   // number of its segment
    bool free = true;
    bool mapped = true;  // false for addresses of an expandable segment without memory
    bool expandable = false;
    uint64_t free_since = 0;  // on the owner's clock
  };

  explicit BlockLists(bool oldest_first) : oldest_first_(oldest_first) {}

  Block& operator[](Id id) { return blocks_[id]; }
  const Block& operator[](Id id) const { return blocks_[id]; }
  // Returns a number that is greater than all ids.
  Id size() const { return static_cast<Id>(blocks_.size()); }
  bool IsSplit(const Block& block) const { return block.previous != kNone || block.next != kNone; }

  // Adds a free block that is in no pool's set yet, for the caller to fill: a copy of a block that was just written
  // part by part would stall the processor.
  Id New() {
    if (unused_.empty()) {
      blocks_.emplace_back();
      return size() - 1;
    }
    const Id id = unused_.back();
    unused_.pop_back();
    blocks_[id] = Block();
    return id;
  }
  // Deletes a block that is not in a set and is no longer a neighbour.
  void Delete(Id id) { unused_.push_back(id); }

  FreeList& FreeOf(uint32_t pool) {
    if (pool >= free_.size()) free_.resize(pool + 1);
    return free_[pool];
  }
  uint32_t pools() const { return static_cast<uint32_t>(free_.size()); }
  void Insert(Id id) { FreeOf(blocks_[id].pool).Insert(KeyOf(id)); }
  void Erase(Id id) { FreeOf(blocks_[id].pool).Erase(KeyOf(id)); }

  // Cuts off the end so that `bytes` are left. Returns the new block, which is in no set.
  Id CutOff(Id id, uint64_t bytes) {
    const Id cut = New();
    Block &block = blocks_[id], &rest = blocks_[cut];
    rest = block;
    rest.address = block.address + bytes;
    rest.bytes = block.bytes - bytes;
    rest.previous = id;
    block.bytes = bytes;
    block.next = cut;
    if (rest.next != kNone) blocks_[rest.next].previous = cut;
    return cut;
  }

  // Merges two neighbours, neither in a set; `gone` is deleted.
  void Join(Id id, Id gone) {
    Block& block = blocks_[id];
    const Block other = blocks_[gone];
    if (block.previous == gone) {
      block.address = other.address;
      block.previous = other.previous;
      if (block.previous != kNone) blocks_[block.previous].next = id;
    } else {
      block.next = other.next;
      if (block.next != kNone) blocks_[block.next].previous = id;
    }
    block.bytes += other.bytes;
    Delete(gone);
  }

 private:
  FreeKey KeyOf(Id id) const {
    const Block& block = blocks_[id];
    return {block.bytes, oldest_first_ ? block.age : 0, id, block.address};
  }

  const bool oldest_first_;
  std::vector<Block> blocks_;
  std::vector<Id> unused_;
  std::vector<FreeList> free_;  // by pool
};

}  // namespace vramtrack::torch_allocator

#endif  // ANALYZER_FRAGMENTATION_TORCH_ALLOCATOR_BLOCK_LISTS_H_
