// SPDX-License-Identifier: Apache-2.0
//
// The work that goes on beside a case: a training run with a framework's allocator, or a program that serves requests
// with the driver's memory alone. Its sites, sizes and habits are drawn from a seed; it leaks nothing by itself.
#ifndef TESTS_CORPUS_JOBS_H_
#define TESTS_CORPUS_JOBS_H_

#include <cstdint>
#include <memory>

#include "tests/corpus/flow.h"
#include "tests/corpus/flow_player.h"
#include "tests/corpus/job_stream.h"

namespace vramtrack::corpus {

class Job {
 public:
  virtual ~Job() = default;
  virtual void Step(int step) = 0;
  // From now on chance takes another way; what the job is made of stays.
  virtual void Reseed(uint64_t seed) = 0;
  // Optimizer steps have this many passes forward and backward, each as regular as a step.
  virtual int micro_steps() const { return 1; }
};

// `steps`: of the whole run. Stream and player must outlive it.
std::unique_ptr<Job> MakeJob(const JobShape& shape, JobStream* stream, FlowPlayer* player, int steps, uint64_t seed);

}  // namespace vramtrack::corpus

#endif  // TESTS_CORPUS_JOBS_H_
