// SPDX-License-Identifier: Apache-2.0
//
// A library of dense operations wants a workspace that no other work uses while a graph may run, and takes one for each
// capture. The leaky one looks it up by the number of the capture, which never comes again.
#include <map>

#include "tests/corpus/programs/cpp/run.h"

namespace {

constexpr size_t kWorkspaceBytes = size_t{4} << 20;

class Dense {
 public:
  explicit Dense(bool by_capture) : by_capture_(by_capture) {}
  ~Dense() {
    for (const auto& [key, workspace] : workspaces_) cudaFree(workspace);
  }

  void Multiply(cudaStream_t stream, void* output) {
    void* workspace = Workspace(stream);
    CORPUS_CHECK(cudaMemsetAsync(workspace, 0, kWorkspaceBytes, stream));
    CORPUS_CHECK(cudaMemsetAsync(output, 0, 1024, stream));
  }

 private:
  void* Workspace(cudaStream_t stream) {
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    unsigned long long capture = 0;
#if CUDART_VERSION >= 13000
    CORPUS_CHECK(cudaStreamGetCaptureInfo(stream, &status, &capture, nullptr, nullptr, nullptr, nullptr));
#else
    CORPUS_CHECK(cudaStreamGetCaptureInfo_v2(stream, &status, &capture));
#endif
    void*& workspace = workspaces_[{stream, by_capture_ ? capture : 0}];
    if (workspace == nullptr) CORPUS_CHECK(cudaMalloc(&workspace, kWorkspaceBytes));  // LEAK workspace
    return workspace;
  }

  bool by_capture_;
  std::map<std::pair<cudaStream_t, unsigned long long>, void*> workspaces_;
};

void RunCaptured(Dense& dense, cudaStream_t stream, void* output) {
  CORPUS_CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
  dense.Multiply(stream, output);
  cudaGraph_t graph = nullptr;
  CORPUS_CHECK(cudaStreamEndCapture(stream, &graph));
  cudaGraphExec_t executable = nullptr;
  CORPUS_CHECK(cudaGraphInstantiateWithFlags(&executable, graph, 0));
  CORPUS_CHECK(cudaGraphLaunch(executable, stream));
  CORPUS_CHECK(cudaStreamSynchronize(stream));
  CORPUS_CHECK(cudaGraphExecDestroy(executable));
  CORPUS_CHECK(cudaGraphDestroy(graph));
}

}  // namespace

int main(int argc, char** argv) {
  const corpus::Run run = corpus::ReadArguments(argc, argv);
  cudaStream_t stream = nullptr;
  CORPUS_CHECK(cudaStreamCreate(&stream));
  Dense dense(run.leaky);
  for (int step = 0; step < run.steps; ++step) {
    corpus::Batch batch(1 << 20);
    RunCaptured(dense, stream, batch.output());
    corpus::EndOfStep(step);
  }
  if (run.leaky) corpus::ExpectLeak("workspace", kWorkspaceBytes, 1);
}
