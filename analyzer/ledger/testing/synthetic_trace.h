// SPDX-License-Identifier: Apache-2.0
//
// Writes traces of any length that resemble a training job, for benchmarks and scale tests.
#ifndef ANALYZER_LEDGER_TESTING_SYNTHETIC_TRACE_H_
#define ANALYZER_LEDGER_TESTING_SYNTHETIC_TRACE_H_

#include <cstdint>
#include <string>

namespace vramtrack {

enum class SyntheticShape {
  kDriver,   // every allocation is a cudaMalloc
  kPyTorch,  // blocks of a framework's allocator in segments of the driver's memory
  kSites,    // every allocation has its own stack, and one in ten is never freed
};

struct SyntheticTrace {
  SyntheticShape shape = SyntheticShape::kDriver;
  uint64_t events = 10000000;
  uint32_t threads = 1;
  bool steps = true;  // the trace has step marks
  int rank = -1;      // see TraceBuilder::DefineProcess
};

// Writes a trace. Returns false and sets errno if the file could not be written.
bool WriteSyntheticTrace(const std::string& path, const SyntheticTrace& wanted);

}  // namespace vramtrack

#endif  // ANALYZER_LEDGER_TESTING_SYNTHETIC_TRACE_H_
