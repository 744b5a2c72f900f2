// SPDX-License-Identifier: Apache-2.0
//
// An arena keeps regions for the next request of their size. Pictures come in every size: the leaky one keeps a region
// for each, the fixed one rounds sizes up to a power of two first.
#include <map>

#include "tests/corpus/programs/cpp/run.h"

namespace {

class Arena {
 public:
  explicit Arena(bool exact) : exact_(exact) {}
  ~Arena() {
    for (const auto& [bytes, region] : free_) cudaFree(region);
  }

  size_t RegionBytes(size_t bytes) const {
    size_t rounded = size_t{1} << 20;
    while (rounded < bytes) rounded *= 2;
    return exact_ ? bytes : rounded;
  }
  void* Take(size_t bytes) {
    const auto found = free_.find(RegionBytes(bytes));
    if (found == free_.end()) return Extend(RegionBytes(bytes));
    void* region = found->second;
    free_.erase(found);
    return region;
  }
  void GiveBack(void* region, size_t bytes) { free_.emplace(RegionBytes(bytes), region); }

 private:
  static void* Extend(size_t bytes) {
    void* region = nullptr;
    CORPUS_CHECK(cudaMalloc(&region, bytes));  // LEAK region // SITE region
    return region;
  }

  bool exact_;
  std::multimap<size_t, void*> free_;
};

// Width and height of the picture in step `step`: no two pictures are of one size.
size_t PictureBytes(int step) { return size_t{3} * (600 + 2 * static_cast<size_t>(step * 97 % 1009)) * 640; }

}  // namespace

int main(int argc, char** argv) {
  const corpus::Run run = corpus::ReadArguments(argc, argv);
  Arena arena(run.leaky);
  double bytes = 0;
  for (int step = 0; step < run.steps; ++step) {
    corpus::Batch batch(1 << 16);
    void* picture = arena.Take(PictureBytes(step));
    CORPUS_CHECK(cudaMemset(picture, 0, 4096));
    arena.GiveBack(picture, PictureBytes(step));
    bytes += static_cast<double>(PictureBytes(step));
    corpus::EndOfStep(step);
  }
  if (run.leaky) corpus::ExpectLeak("region", bytes / run.steps, 1);
  if (!run.leaky) corpus::ExpectVerdict("region", "one_time");
}
