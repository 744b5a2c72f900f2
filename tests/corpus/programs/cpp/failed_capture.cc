// SPDX-License-Identifier: Apache-2.0
//
// An allocator with a private pool for each capture. When a capture fails, the leaky one never gives its pool back.
#include <memory>
#include <set>
#include <vector>

#include "tests/corpus/programs/cpp/run.h"

namespace {

constexpr size_t kSegmentBytes = size_t{2} << 20;

class PrivatePool {
 public:
  void* Allocate() {
    void* segment = nullptr;
    CORPUS_CHECK(cudaMalloc(&segment, kSegmentBytes));  // LEAK segment
    segments_.push_back(segment);
    return segment;
  }
  ~PrivatePool() {
    for (void* segment : segments_) cudaFree(segment);
  }

 private:
  std::vector<void*> segments_;
};

class Allocator {
 public:
  explicit Allocator(bool forget_failed) : forget_failed_(forget_failed) {}
  PrivatePool& BeginCapture() { return **pools_.insert(std::make_unique<PrivatePool>()).first; }
  void EndCapture(PrivatePool& pool, bool failed) {
    if (failed && forget_failed_) return;
    for (auto found = pools_.begin(); found != pools_.end(); ++found) {
      if (found->get() == &pool) {
        pools_.erase(found);
        return;
      }
    }
  }

 private:
  bool forget_failed_;
  std::set<std::unique_ptr<PrivatePool>> pools_;
};

bool Capture(Allocator& allocator, cudaStream_t stream, bool waits) {
  PrivatePool& pool = allocator.BeginCapture();
  CORPUS_CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
  for (int block = 0; block < 2; ++block) cudaMemsetAsync(pool.Allocate(), 0, kSegmentBytes, stream);
  if (waits) cudaStreamSynchronize(stream);  // not allowed here: it ends the capture
  cudaGraph_t graph = nullptr;
  const bool failed = cudaStreamEndCapture(stream, &graph) != cudaSuccess;
  cudaGetLastError();
  allocator.EndCapture(pool, failed);
  if (graph != nullptr) cudaGraphDestroy(graph);
  return !failed;
}

}  // namespace

int main(int argc, char** argv) {
  const corpus::Run run = corpus::ReadArguments(argc, argv);
  cudaStream_t stream = nullptr;
  CORPUS_CHECK(cudaStreamCreate(&stream));
  Allocator allocator(run.leaky);
  for (int step = 0; step < run.steps; ++step) {
    corpus::Batch batch(1 << 20);
    if (Capture(allocator, stream, true)) return 1;
    if (!Capture(allocator, stream, false)) return 1;
    corpus::EndOfStep(step);
  }
  if (run.leaky) corpus::ExpectLeak("segment", 2.0 * kSegmentBytes, 2);
}
