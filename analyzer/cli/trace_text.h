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
#include "analyzer/render/text/page.h"
#include "analyzer/symbols/symbolizer.h"

namespace vramtrack {

// The stacks of one trace as lines of text, and the status of its modules as the symbolizer finds them.
// Thread-compatible; the definitions must outlive this object.
class TracedFrames {
 public:
  TracedFrames(const Definitions& definitions, const std::vector<std::string>& search_paths,
               StackDetail detail = StackDetail::kUseful);

  // Returns one line for each frame, "function  file:line", innermost first. Inlined functions are included; Python
  // frames and frames of the forward pass are at their place in the stack. The result lives as long as this object.
  const std::vector<std::string>& Lines(StackIndex stack);

  // Returns the status of the modules with code on at least one stack, in the order of the trace.
  std::vector<ModuleStatus> ModulesOnStacks();

 private:
  ModuleRef RefOf(int module) const;

  const Definitions& definitions_;
  Symbolizer symbolizer_;
  StackSymbolizer stacks_;
  std::unordered_map<StackIndex, std::vector<std::string>> lines_;
};

// Columns of the labels of `info`.
constexpr int kInfoLabelColumns = 15;

// Writes a row of `info`: the label, then the text, with its lines under each other. No row if there is no text.
void InfoRow(const std::string& label, const std::string& text, Page* page, Paint paint = Paint::kPlain);

// Returns the name of a kind of CUPTI records, as dump and info show it.
std::string ActivityName(uint32_t kind);

// Returns the operation of a record of that kind, such as "allocated" or "host to device"; for an API call its
// function, such as "cudaMalloc". Returns an empty string if only the number is known, and for functions that do not
// handle memory.
const char* ActivityOperationName(uint32_t kind, uint32_t operation);

}  // namespace vramtrack

#endif  // ANALYZER_CLI_TRACE_TEXT_H_
