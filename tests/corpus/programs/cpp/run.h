// SPDX-License-Identifier: Apache-2.0
//
// What every program of the corpus has: which variant it is to be, for how many steps, and what a tool should find.
#ifndef TESTS_CORPUS_PROGRAMS_CPP_RUN_H_
#define TESTS_CORPUS_PROGRAMS_CPP_RUN_H_

#include <cuda_runtime_api.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "vramtrack/vramtrack.h"

namespace corpus {

struct Run {
  bool leaky = false;
  int steps = 0;
};

inline Run ReadArguments(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: %s leaky|fixed STEPS\n", argv[0]);
    std::exit(2);
  }
  return {std::strcmp(argv[1], "leaky") == 0, std::atoi(argv[2])};
}

// A program that marks its steps calls this at the end of each; others never do.
inline void EndOfStep(int step) {
  static const bool marks = std::getenv("CORPUS_MARKS") != nullptr;
  if (marks) vramtrack_step(static_cast<uint64_t>(step), 0);
}

// The ground truth of the line with the comment `LEAK <name>`: what a step leaves behind there on average.
inline void ExpectLeak(const char* name, double bytes_per_step, double objects_per_step) {
  std::printf("expect %s %.17g %.17g\n", name, bytes_per_step, objects_per_step);
}

// That of the line with the comment `SITE <name>`, which is no leak.
inline void ExpectVerdict(const char* name, const char* verdict) { std::printf("verdict %s %s\n", name, verdict); }

inline void Check(int status, const char* what) {
  if (status == 0) return;
  std::fprintf(stderr, "%s: status %d\n", what, status);
  std::exit(1);
}

#define CORPUS_CHECK(call) corpus::Check(static_cast<int>(call), #call)

// What a job does besides: two buffers and a transfer, all given back.
class Batch {
 public:
  explicit Batch(size_t bytes) : host_(bytes) {
    CORPUS_CHECK(cudaMalloc(&input_, bytes));
    CORPUS_CHECK(cudaMalloc(&output_, bytes));
    CORPUS_CHECK(cudaMemcpy(input_, host_.data(), bytes, cudaMemcpyHostToDevice));
  }
  ~Batch() {
    cudaFree(output_);
    cudaFree(input_);
  }
  Batch(const Batch&) = delete;
  Batch& operator=(const Batch&) = delete;

  void* input() const { return input_; }
  void* output() const { return output_; }

 private:
  std::vector<char> host_;
  void *input_ = nullptr, *output_ = nullptr;
};

}  // namespace corpus

#endif  // TESTS_CORPUS_PROGRAMS_CPP_RUN_H_
