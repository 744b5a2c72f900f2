// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_ATTRIBUTION_STACK_SYMBOLIZER_H_
#define ANALYZER_ATTRIBUTION_STACK_SYMBOLIZER_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/ingest/definitions.h"
#include "analyzer/report.h"
#include "analyzer/symbols/symbolizer.h"

namespace vramtrack {

// Turns a trace's stacks into frames that a person can read. What CUDA's libraries and vramtrack add at the inner end
// is left out. Thread-compatible; `definitions` and `symbolizer` must outlive it.
class StackSymbolizer {
 public:
  StackSymbolizer(const Definitions& definitions, Symbolizer* symbolizer)
      : definitions_(definitions), symbolizer_(symbolizer) {}

  // Return addresses of the stack, innermost first, without the plumbing.
  StackRef Trimmed(uint32_t distinct_stack);

  // The functions at one return address, innermost first; at least one.
  std::vector<ReportFrame> Frame(uint64_t return_address, uint32_t module_epoch);

  // All of a stack; empty for the empty stack.
  std::vector<ReportFrame> Frames(uint32_t distinct_stack);

  // The name of the first module on the stack that is no plumbing; empty if there is none.
  std::string Owner(uint32_t distinct_stack) const;

 private:
  int ModuleAt(uint64_t return_address, uint32_t module_epoch) const;

  const Definitions& definitions_;
  Symbolizer* symbolizer_;
};

}  // namespace vramtrack

#endif  // ANALYZER_ATTRIBUTION_STACK_SYMBOLIZER_H_
