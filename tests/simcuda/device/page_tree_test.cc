// SPDX-License-Identifier: Apache-2.0
#include "tests/simcuda/device/page_tree.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace vramtrack::simcuda {
namespace {

// What the tree answers, the slow way.
class Model {
 public:
  explicit Model(size_t pages) : free_(pages, true) {}

  size_t FirstFit(size_t pages) const {
    size_t run = 0;
    for (size_t page = 0; page < free_.size(); ++page) {
      run = free_[page] ? run + 1 : 0;
      if (run == pages) return page + 1 - pages;
    }
    return PageTree::kNone;
  }
  size_t Longest() const {
    size_t run = 0, longest = 0;
    for (const bool free : free_) {
      run = free ? run + 1 : 0;
      longest = std::max(longest, run);
    }
    return longest;
  }
  void Set(size_t first, size_t pages, bool free) {
    for (size_t page = first; page < first + pages; ++page) free_[page] = free;
  }

 private:
  std::vector<bool> free_;
};

TEST(PageTreeTest, agrees_with_a_scan_of_all_pages) {
  std::mt19937 random(1);
  for (const size_t pages : {1u, 7u, 64u, 100u, 257u}) {
    PageTree tree(pages);
    Model model(pages);
    struct Run {
      size_t first, pages;
    };
    std::vector<Run> used;
    for (int step = 0; step < 3000; ++step) {
      const size_t wanted = 1 + random() % (pages / 4 + 1);
      const size_t first = tree.FirstFit(wanted);
      ASSERT_EQ(first, model.FirstFit(wanted));
      ASSERT_EQ(tree.longest_free_run(), model.Longest());
      if (first != PageTree::kNone && random() % 2 == 0) {
        tree.MarkUsed(first, wanted);
        model.Set(first, wanted, false);
        used.push_back({first, wanted});
      } else if (!used.empty()) {
        const size_t index = random() % used.size();
        tree.MarkFree(used[index].first, used[index].pages);
        model.Set(used[index].first, used[index].pages, true);
        used[index] = used.back();
        used.pop_back();
      }
    }
    size_t held = 0;
    for (const Run& run : used) held += run.pages;
    EXPECT_EQ(tree.free_pages(), pages - held);
  }
}

TEST(PageTreeTest, counts_the_lowest_free_run) {
  PageTree tree(10);
  tree.MarkUsed(0, 3);
  tree.MarkUsed(5, 1);
  size_t length = 0;
  EXPECT_EQ(tree.LowestFreeRun(10, &length), 3u);
  EXPECT_EQ(length, 2u);
  EXPECT_EQ(tree.LowestFreeRun(1, &length), 3u);
  EXPECT_EQ(length, 1u);
  tree.MarkUsed(3, 2);
  tree.MarkUsed(6, 4);
  EXPECT_EQ(tree.LowestFreeRun(10, &length), PageTree::kNone);
  EXPECT_EQ(tree.FirstFit(0), PageTree::kNone);
}

}  // namespace
}  // namespace vramtrack::simcuda
