// SPDX-License-Identifier: Apache-2.0
//
// A thread for each request, and a handle of cuBLAS for each thread. The leaky one forgets that its threads end.
#include <memory>
#include <thread>

#include "tests/corpus/programs/cpp/run.h"
#include "tests/simcuda/libraries/cublas.h"

namespace {

struct Handle {
  explicit Handle(bool destroy) : destroy(destroy) {
    CORPUS_CHECK(cublasCreate_v2(&handle));  // LEAK handle
  }
  ~Handle() {
    if (destroy) cublasDestroy_v2(handle);
  }
  cublasHandle_t handle = nullptr;
  bool destroy;
};

cublasHandle_t HandleOfThread(bool leaky) {
  thread_local std::unique_ptr<Handle> handle;
  if (handle == nullptr) handle = std::make_unique<Handle>(!leaky);
  return handle->handle;
}

void Answer(bool leaky) {
  corpus::Batch batch(256 << 10);
  CORPUS_CHECK(cublasSetMathMode(HandleOfThread(leaky), 0));
  CORPUS_CHECK(cudaMemcpy(batch.output(), batch.input(), 4096, cudaMemcpyDeviceToDevice));
}

}  // namespace

int main(int argc, char** argv) {
  const corpus::Run run = corpus::ReadArguments(argc, argv);
  for (int step = 0; step < run.steps; ++step) {
    std::thread(Answer, run.leaky).join();
    corpus::EndOfStep(step);
  }
  // The handle holds one of cuBLASLt.
  const double bytes = vramtrack::simcuda::kCublasWorkspaceBytes + vramtrack::simcuda::kCublasLtWorkspaceBytes;
  if (run.leaky) corpus::ExpectLeak("handle", bytes, 0);
}
