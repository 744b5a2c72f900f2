// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_RENDER_HTML_HTML_H_
#define ANALYZER_RENDER_HTML_HTML_H_

#include <cstddef>
#include <cstdint>
#include <ctime>
#include <string>
#include <vector>

#include "analyzer/model/diff_report.h"
#include "analyzer/model/report.h"
#include "analyzer/render/html/source_lines.h"

namespace vramtrack {

// The maximum size of a page. The page lists as many sites as fit, at least some, and says how many there are.
constexpr size_t kMaxPageBytes = 20 << 20;
constexpr size_t kMaxPageSites = 20000;

// Renders the report as one self-contained HTML file: docs/html.md. `source` is shown with the frames to which it
// belongs. The same report and source give the same bytes. Without scripts, or if the build has no bundle of the page,
// the page shows the text report.
std::string RenderHtml(const Report& report, const std::vector<SourceExcerpt>& source = {},
                       size_t max_bytes = kMaxPageBytes);

// Renders a page that has no report yet and fetches it from the server that it came from, again and again: RenderUpdate
// from "update?have=VERSION", relative to its own address. See page/live.js.
std::string RenderLivePage(const std::string& tool_version);

// What a page that follows a job shows besides the report.
struct LiveState {
  uint64_t version = 0;  // of the report; 0: there is none yet
  bool ended = false;    // all processes of the job have ended
  std::string trouble;   // why there is no newer report, one line; empty: none
  bool listed = false;   // the folder has more traces
};

// What such a page fetches, as JSON texts. The same rules as for RenderHtml hold.
// Renders the page's title, its first elements and the data of everything else.
std::string RenderPageReport(const Report& report, const std::vector<SourceExcerpt>& source = {},
                             size_t max_bytes = kMaxPageBytes);
// Renders the whole of what is fetched: the state, and `report` of RenderPageReport unless it is empty.
std::string RenderUpdate(const LiveState& state, const std::string& report);

// The reports of both runs, for data that a comparison does not have: their timelines.
struct DiffRuns {
  Report base, next;
};

// Renders the comparison as one self-contained HTML file: what changed, and the two runs next to each other. Sites that
// both runs have get one category. The same reports give the same bytes.
std::string RenderDiffHtml(const DiffReport& report, DiffRuns runs);

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

#endif  // ANALYZER_RENDER_HTML_HTML_H_
