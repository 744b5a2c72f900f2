// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_RENDER_HTML_TRACE_LIST_H_
#define ANALYZER_RENDER_HTML_TRACE_LIST_H_

#include <cstdint>
#include <ctime>
#include <string>
#include <vector>

namespace vramtrack {

// A trace in a list, or a whole run.
struct ListedTrace {
  std::string name;
  std::string link;  // relative to the list
  uint64_t bytes = 0;
  std::time_t written = 0;  // when it was last written; 0: unknown
};

struct ListedRun {
  std::time_t started = 0;  // 0: unknown
  std::string link;         // to the page of all its processes; empty: there is none
  std::vector<ListedTrace> traces;
};

// Renders the list of a folder's traces, without scripts. Lists at most 200 traces of a run and counts the others.
std::string RenderTraceList(const std::string& folder, const std::vector<ListedRun>& runs,
                            const std::string& tool_version);

}  // namespace vramtrack

#endif  // ANALYZER_RENDER_HTML_TRACE_LIST_H_
