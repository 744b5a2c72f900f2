// SPDX-License-Identifier: Apache-2.0
#include "analyzer/render/html/trace_list.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "analyzer/base/display_text.h"
#include "analyzer/base/quantity.h"
#include "analyzer/render/html/markup.h"

namespace vramtrack {
namespace {

std::string TimeText(std::time_t time) {
  if (time == 0) return "an unknown time";
  return absl::FormatTime("%Y-%m-%d %H:%M:%S", absl::FromTimeT(time), absl::LocalTimeZone());
}

std::string Link(const std::string& to, const std::string& text) {
  return absl::StrCat("<a href=\"", EscapeHtml(to), "\">", EscapeHtml(text), "</a>");
}

std::string RunHtml(const ListedRun& run) {
  MarkupTable table("", {"trace", "last written", "size"});
  for (const ListedTrace& trace : run.traces) {
    table.MarkupRow({Link(trace.link, trace.name), EscapeHtml(TimeText(trace.written)),
                     EscapeHtml(FormatByteCount(static_cast<double>(trace.bytes)))});
  }
  const std::string title = absl::StrCat("Run of ", TimeText(run.started));
  return absl::StrCat("<h2>", run.link.empty() ? EscapeHtml(title) : Link(run.link, title), ", ",
                      Plural(run.traces.size(), "process", "processes"), "</h2>\n", table.Finish());
}

}  // namespace

std::string RenderTraceList(const std::string& folder, const std::vector<ListedRun>& runs,
                            const std::string& tool_version) {
  const std::string title = absl::StrCat("Traces in ", EscapeHtml(folder));
  std::string page = absl::StrCat(PageHead(title + " - vramtrack", tool_version, PageUse::kPlain),
                                  "<body>\n<main id=\"report\">\n<h1>", title, "</h1>\n");
  for (const ListedRun& run : runs) page += RunHtml(run);
  return page + "</main>\n</body>\n</html>\n";
}

}  // namespace vramtrack
