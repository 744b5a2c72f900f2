// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_CLI_TRACE_TEXT_H_
#define ANALYZER_CLI_TRACE_TEXT_H_

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "analyzer/attribution/stack_symbolizer.h"
#include "analyzer/base/indices.h"
#include "analyzer/ingest/definitions.h"
#include "analyzer/symbols/symbolizer.h"

namespace vramtrack {

// The stacks of one trace as lines of text, and its modules as the symbolizer finds them. Thread-compatible; the
// definitions must outlive this object.
class TracedFrames {
 public:
  TracedFrames(const Definitions& definitions, const std::vector<std::string>& search_paths,
               StackDetail detail = StackDetail::kUseful);

  // One line a frame, "function  file:line", innermost first, functions that were inlined with them; Python frames and
  // those of the forward pass where they belong. Lives as long as this object.
  const std::vector<std::string>& Lines(StackIndex stack);

  // How the modules were found that have code on at least one stack, in the order of the trace.
  std::vector<ModuleStatus> ModulesOnStacks();

 private:
  ModuleRef RefOf(int module) const;

  const Definitions& definitions_;
  Symbolizer symbolizer_;
  StackSymbolizer stacks_;
  std::unordered_map<StackIndex, std::vector<std::string>> lines_;
};

// The name of a kind of CUPTI records, in dump and info.
std::string ActivityName(uint32_t kind);

// The operation of a record of that kind: "allocated", "host to device"; for an API call its function, "cudaMalloc".
// Empty if the number is the only information, and for functions that do not handle memory.
const char* ActivityOperationName(uint32_t kind, uint32_t operation);

}  // namespace vramtrack

#endif  // ANALYZER_CLI_TRACE_TEXT_H_
