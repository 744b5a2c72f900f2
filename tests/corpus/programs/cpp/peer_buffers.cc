// SPDX-License-Identifier: Apache-2.0
//
// Two processes: one holds the parts of a table and lends one in every step, the other opens it. The leaky one never
// closes what it opened.
#include <sys/wait.h>
#include <unistd.h>

#include "tests/corpus/programs/cpp/run.h"

namespace {

constexpr size_t kPartBytes = size_t{3} << 20;

template <typename Value>
bool Read(int from, Value* value) {
  return read(from, value, sizeof *value) == static_cast<ssize_t>(sizeof *value);
}

template <typename Value>
void Write(int to, const Value& value) {
  if (write(to, &value, sizeof value) != static_cast<ssize_t>(sizeof value)) std::exit(1);
}

void Lend(int steps, int to, int from) {
  std::vector<void*> parts(static_cast<size_t>(steps));
  for (void*& part : parts) CORPUS_CHECK(cudaMalloc(&part, kPartBytes));
  for (int step = 0; step < steps; ++step) {
    corpus::Batch batch(1 << 20);
    cudaIpcMemHandle_t handle;
    CORPUS_CHECK(cudaIpcGetMemHandle(&handle, parts[static_cast<size_t>(step)]));
    Write(to, handle);
    char done = 0;
    if (!Read(from, &done)) std::exit(1);
    corpus::EndOfStep(step);
  }
  for (void* part : parts) CORPUS_CHECK(cudaFree(part));
}

void Borrow(bool leaky, int from, int to) {
  cudaIpcMemHandle_t handle;
  for (int step = 0; Read(from, &handle); ++step) {
    corpus::Batch batch(1 << 20);
    void* part = nullptr;
    CORPUS_CHECK(cudaIpcOpenMemHandle(&part, handle, cudaIpcMemLazyEnablePeerAccess));  // LEAK part
    CORPUS_CHECK(cudaMemcpy(batch.input(), part, 4096, cudaMemcpyDeviceToDevice));
    if (!leaky) CORPUS_CHECK(cudaIpcCloseMemHandle(part));
    corpus::EndOfStep(step);
    Write(to, '\0');
  }
}

}  // namespace

int main(int argc, char** argv) {
  const corpus::Run run = corpus::ReadArguments(argc, argv);
  if (run.leaky) corpus::ExpectLeak("part", 0, 1);
  std::fflush(stdout);
  int parts[2], answers[2];
  if (pipe(parts) != 0 || pipe(answers) != 0) return 1;
  const pid_t borrower = fork();
  if (borrower == 0) {
    close(parts[1]);
    Borrow(run.leaky, parts[0], answers[1]);
    return 0;
  }
  Lend(run.steps, parts[1], answers[0]);
  close(parts[1]);
  int status = 0;
  waitpid(borrower, &status, 0);
  return status == 0 ? 0 : 1;
}
