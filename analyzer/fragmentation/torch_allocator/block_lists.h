// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_FRAGMENTATION_TORCH_ALLOCATOR_BLOCK_LISTS_H_
#define ANALYZER_FRAGMENTATION_TORCH_ALLOCATOR_BLOCK_LISTS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/container/btree_set.h"

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

// The free blocks of a pool, in order, divided into classes by the three highest bits of their sizes. A program has
// blocks of many sizes and few of each, so most searches look at one or two keys. Thread-compatible.
class FreeList {
  using Keys = absl::btree_set<FreeKey>;

 public:
  class Iterator {
   public:
    const FreeKey& operator*() const { return *key_; }
    const FreeKey* operator->() const { return &*key_; }
    Iterator& operator++() {
      if (++key_ == list_->classes_[class_].end()) *this = list_->FirstFrom(class_ + 1);
      return *this;
    }
    bool operator==(const Iterator& other) const { return class_ == other.class_ && key_ == other.key_; }
    bool operator!=(const Iterator& other) const { return !(*this == other); }

   private:
    friend class FreeList;
    Iterator(const FreeList* list, size_t size_class, Keys::const_iterator key)
        : list_(list), class_(size_class), key_(key) {}

    const FreeList* list_;
    size_t class_;
    Keys::const_iterator key_;
  };

  Iterator begin() const { return FirstFrom(0); }
  Iterator end() const { return {this, kClasses, {}}; }

  // Returns the smallest block that has at least `bytes`.
  Iterator AtLeast(uint64_t bytes) const {
    const size_t size_class = ClassOf(bytes);
    const auto key = classes_[size_class].lower_bound({bytes, 0, 0, 0});
    return key == classes_[size_class].end() ? FirstFrom(size_class + 1) : Iterator(this, size_class, key);
  }
  void Insert(const FreeKey& key) {
    const size_t size_class = ClassOf(key.bytes);
    classes_[size_class].insert(key);
    used_[size_class / 64] |= uint64_t{1} << size_class % 64;
  }
  // Removes `key`, which must be in the list.
  void Erase(const FreeKey& key) {
    const size_t size_class = ClassOf(key.bytes);
    classes_[size_class].erase(key);
    if (classes_[size_class].empty()) used_[size_class / 64] &= ~(uint64_t{1} << size_class % 64);
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
    for (size_t word = size_class / 64; word < kWords; size_class = 64 * ++word) {
      const uint64_t bits = used_[word] & ~uint64_t{0} << size_class % 64;
      if (bits == 0) continue;
      const size_t found = 64 * word + static_cast<size_t>(__builtin_ctzll(bits));
      return {this, found, classes_[found].begin()};
    }
    return end();
  }

  std::array<uint64_t, kWords> used_ = {};  // the classes that are not empty
  std::vector<Keys> classes_ = std::vector<Keys>(kClasses);
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
