// SPDX-License-Identifier: Apache-2.0
//
// Traces of any length in the shape of a training job, for benchmarks and tests of scale.
#ifndef ANALYZER_LEDGER_TESTING_SYNTHETIC_TRACE_H_
#define ANALYZER_LEDGER_TESTING_SYNTHETIC_TRACE_H_

#include <cstdint>
#include <string>

namespace vramtrack {

enum class SyntheticShape {
  kDriver,   // every allocation is a cudaMalloc
  kPyTorch,  // blocks of a framework's allocator in segments of the driver's memory
  kSites,    // every allocation has a stack of its own, and one in ten is kept
};

struct SyntheticTrace {
  SyntheticShape shape = SyntheticShape::kDriver;
  uint64_t events = 10000000;
  uint32_t threads = 1;
  bool steps = true;  // marks them
  int rank = -1;      // as TraceBuilder::DefineProcess
};

// False, with errno set, if the file could not be written.
bool WriteSyntheticTrace(const std::string& path, const SyntheticTrace& wanted);

}  // namespace vramtrack

#endif  // ANALYZER_LEDGER_TESTING_SYNTHETIC_TRACE_H_
