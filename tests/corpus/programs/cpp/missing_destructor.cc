// SPDX-License-Identifier: Apache-2.0
//
// A table of neighbours with three arrays. The destructor of the leaky one was written when there were two.
#include "tests/corpus/programs/cpp/run.h"

namespace {

constexpr size_t kPoints = 10000;

class NeighbourTable {
 public:
  NeighbourTable(size_t points, bool leaky) : leaky_(leaky) {
    CORPUS_CHECK(cudaMalloc(&offsets_, points * 4));
    CORPUS_CHECK(cudaMalloc(&indices_, points * 16 * 4));
    CORPUS_CHECK(cudaMalloc(&distances_, points * 16 * 4));  // LEAK distances
  }
  ~NeighbourTable() {
    cudaFree(offsets_);
    cudaFree(indices_);
    if (!leaky_) cudaFree(distances_);
  }

 private:
  void *offsets_ = nullptr, *indices_ = nullptr, *distances_ = nullptr;
  bool leaky_;
};

}  // namespace

int main(int argc, char** argv) {
  const corpus::Run run = corpus::ReadArguments(argc, argv);
  for (int step = 0; step < run.steps; ++step) {
    corpus::Batch cloud(kPoints * 12);
    NeighbourTable table(kPoints, run.leaky);
    corpus::EndOfStep(step);
  }
  if (run.leaky) corpus::ExpectLeak("distances", kPoints * 16 * 4, 1);
}
