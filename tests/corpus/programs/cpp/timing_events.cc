// SPDX-License-Identifier: Apache-2.0
//
// A stopwatch made of two events around each batch. The leaky one destroys neither.
#include "tests/corpus/programs/cpp/run.h"

namespace {

class Stopwatch {
 public:
  explicit Stopwatch(bool leaky) : leaky_(leaky) {
    CORPUS_CHECK(cudaEventCreate(&begin_));  // LEAK begin
    CORPUS_CHECK(cudaEventCreate(&end_));    // LEAK end
    CORPUS_CHECK(cudaEventRecord(begin_));
  }
  ~Stopwatch() {
    cudaEventRecord(end_);
    cudaEventSynchronize(end_);
    cudaEventElapsedTime(&milliseconds_, begin_, end_);
    if (leaky_) return;
    cudaEventDestroy(begin_);
    cudaEventDestroy(end_);
  }

 private:
  cudaEvent_t begin_ = nullptr, end_ = nullptr;
  float milliseconds_ = 0;
  bool leaky_;
};

}  // namespace

int main(int argc, char** argv) {
  const corpus::Run run = corpus::ReadArguments(argc, argv);
  for (int step = 0; step < run.steps; ++step) {
    Stopwatch stopwatch(run.leaky);
    corpus::Batch batch(1 << 20);
    corpus::EndOfStep(step);
  }
  if (run.leaky) {
    corpus::ExpectLeak("begin", 0, 1);
    corpus::ExpectLeak("end", 0, 1);
  }
}
