// SPDX-License-Identifier: Apache-2.0
//
// Every request is captured anew, with its result allocated inside the graph. What a graph allocated and did not free
// belongs to the program, which the leaky one does not know.
#include "tests/corpus/programs/cpp/run.h"

namespace {

constexpr size_t kResultBytes = 3 << 20;

void* Launch(cudaStream_t stream) {
  CORPUS_CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  void *result = nullptr, *scratch = nullptr;
  CORPUS_CHECK(cudaMallocAsync(&result, kResultBytes, stream));  // LEAK result
  CORPUS_CHECK(cudaMallocAsync(&scratch, kResultBytes, stream));
  CORPUS_CHECK(cudaMemsetAsync(result, 0, 4096, stream));
  CORPUS_CHECK(cudaFreeAsync(scratch, stream));
  cudaGraph_t graph = nullptr;
  CORPUS_CHECK(cudaStreamEndCapture(stream, &graph));
  cudaGraphExec_t executable = nullptr;
  CORPUS_CHECK(cudaGraphInstantiateWithFlags(&executable, graph, 0));
  CORPUS_CHECK(cudaGraphLaunch(executable, stream));
  CORPUS_CHECK(cudaStreamSynchronize(stream));
  CORPUS_CHECK(cudaGraphExecDestroy(executable));
  CORPUS_CHECK(cudaGraphDestroy(graph));
  return result;
}

}  // namespace

int main(int argc, char** argv) {
  const corpus::Run run = corpus::ReadArguments(argc, argv);
  cudaStream_t stream = nullptr;
  CORPUS_CHECK(cudaStreamCreate(&stream));
  for (int step = 0; step < run.steps; ++step) {
    corpus::Batch batch(1 << 20);
    void* result = Launch(stream);
    if (!run.leaky) CORPUS_CHECK(cudaFreeAsync(result, stream));
    CORPUS_CHECK(cudaStreamSynchronize(stream));
    corpus::EndOfStep(step);
  }
  if (run.leaky) corpus::ExpectLeak("result", kResultBytes, 1);
}
