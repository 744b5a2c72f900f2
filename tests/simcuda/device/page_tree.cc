// SPDX-License-Identifier: Apache-2.0
#include "tests/simcuda/device/page_tree.h"

#include <algorithm>

namespace vramtrack::simcuda {

PageTree::PageTree(size_t pages) : pages_(pages), free_pages_(0), leaves_(1) {
  while (leaves_ < pages) leaves_ *= 2;
  // Leaves past the end stay used for ever.
  nodes_.resize(size_t{2} * leaves_, Node{0, 0, 0});
  MarkFree(0, pages);
}

size_t PageTree::FirstFit(size_t pages) const {
  if (pages == 0 || nodes_[1].longest < pages) return kNone;
  size_t index = 1, begin = 0;
  uint32_t length = leaves_;
  while (!IsUniform(nodes_[index], length)) {
    const Node& left = nodes_[2 * index];
    const Node& right = nodes_[2 * index + 1];
    length /= 2;
    if (left.longest >= pages) {
      index = 2 * index;
    } else if (left.suffix + size_t{right.prefix} >= pages) {
      return begin + length - left.suffix;
    } else {
      index = 2 * index + 1;
      begin += length;
    }
  }
  return begin;
}

bool PageTree::IsFree(size_t page) const {
  size_t index = 1, begin = 0;
  uint32_t length = leaves_;
  while (!IsUniform(nodes_[index], length)) {
    length /= 2;
    index *= 2;
    if (page >= begin + length) {
      index += 1;
      begin += length;
    }
  }
  return nodes_[index].longest != 0;
}

size_t PageTree::LowestFreeRun(size_t limit, size_t* length) const {
  const size_t first = FirstFit(1);
  if (first == kNone) return kNone;
  size_t run = 1;
  while (run < limit && first + run < pages_ && IsFree(first + run)) ++run;
  *length = run;
  return first;
}

void PageTree::MarkUsed(size_t first, size_t pages) {
  Assign(1, 0, leaves_, first, first + pages, false);
  free_pages_ -= pages;
}

void PageTree::MarkFree(size_t first, size_t pages) {
  Assign(1, 0, leaves_, first, first + pages, true);
  free_pages_ += pages;
}

void PageTree::Assign(size_t index, size_t begin, uint32_t length, size_t first, size_t last, bool free) {
  Node& node = nodes_[index];
  if (first <= begin && begin + length <= last) {
    node = Uniform(length, free);
    return;
  }
  const uint32_t half = length / 2;
  Node& left = nodes_[2 * index];
  Node& right = nodes_[2 * index + 1];
  if (IsUniform(node, length)) {
    left = right = Uniform(half, node.longest != 0);
  }
  if (first < begin + half) Assign(2 * index, begin, half, first, last, free);
  if (last > begin + half) Assign(2 * index + 1, begin + half, half, first, last, free);
  node.prefix = left.prefix == half ? half + right.prefix : left.prefix;
  node.suffix = right.suffix == half ? half + left.suffix : right.suffix;
  node.longest = std::max({left.longest, right.longest, left.suffix + right.prefix});
}

}  // namespace vramtrack::simcuda
