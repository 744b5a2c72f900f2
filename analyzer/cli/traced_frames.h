// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_CLI_TRACED_FRAMES_H_
#define ANALYZER_CLI_TRACED_FRAMES_H_

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "analyzer/attribution/stack_symbolizer.h"
#include "analyzer/ingest/definitions.h"
#include "analyzer/symbols/symbolizer.h"

namespace vramtrack {

// The stacks of one trace as lines of text, and its modules as the symbolizer finds them. Thread-compatible; the
// definitions must outlive it.
class TracedFrames {
 public:
  TracedFrames(const Definitions& definitions, const std::vector<std::string>& search_paths,
               StackDetail detail = StackDetail::kUseful);

  // One line a frame, "function  file:line", innermost first, functions that were inlined with them; Python frames and
  // those of the forward pass where they belong. Lives as long as this object.
  const std::vector<std::string>& Lines(uint32_t distinct_stack);

  // How the modules were found that have code on at least one stack, in the order of the trace.
  std::vector<ModuleStatus> ModulesOnStacks();

 private:
  ModuleRef RefOf(int module) const;

  const Definitions& definitions_;
  Symbolizer symbolizer_;
  StackSymbolizer stacks_;
  std::unordered_map<uint32_t, std::vector<std::string>> lines_;
};

}  // namespace vramtrack

#endif  // ANALYZER_CLI_TRACED_FRAMES_H_
