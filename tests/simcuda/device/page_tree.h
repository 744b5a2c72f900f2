// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_SIMCUDA_DEVICE_PAGE_TREE_H_
#define TESTS_SIMCUDA_DEVICE_PAGE_TREE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace vramtrack::simcuda {

// Tracks which of a fixed number of pages are free, and finds the first fit in logarithmic time. It is a binary tree
// whose nodes hold the longest run of free pages below them. Neighbouring free runs need no merging. Not thread-safe.
class PageTree {
 public:
  static constexpr size_t kNone = SIZE_MAX;

  explicit PageTree(size_t pages);

  // Returns the lowest page from which `pages` pages are free, or kNone.
  size_t FirstFit(size_t pages) const;

  // Returns the lowest free page, or kNone. Sets `*length` to the number of free pages from there, at most `limit`.
  size_t LowestFreeRun(size_t limit, size_t* length) const;

  void MarkUsed(size_t first, size_t pages);
  void MarkFree(size_t first, size_t pages);

  bool IsFree(size_t page) const;
  size_t pages() const { return pages_; }
  size_t free_pages() const { return free_pages_; }
  size_t longest_free_run() const { return nodes_[1].longest; }

 private:
  struct Node {
    uint32_t prefix;   // free pages at the start
    uint32_t suffix;   // free pages at the end
    uint32_t longest;  // longest free run anywhere
  };

  // A node whose pages are all free or all used is valid for everything below it; its children may be out of date.
  static bool IsUniform(const Node& node, uint32_t length) { return node.longest == 0 || node.longest == length; }
  static Node Uniform(uint32_t length, bool free) { return free ? Node{length, length, length} : Node{0, 0, 0}; }

  void Assign(size_t index, size_t begin, uint32_t length, size_t first, size_t last, bool free);

  size_t pages_;
  size_t free_pages_;
  uint32_t leaves_;  // a power of two
  std::vector<Node> nodes_;
};

}  // namespace vramtrack::simcuda

#endif  // TESTS_SIMCUDA_DEVICE_PAGE_TREE_H_
