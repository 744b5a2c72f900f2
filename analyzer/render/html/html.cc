// SPDX-License-Identifier: Apache-2.0
#include "analyzer/render/html/html.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "analyzer/render/html/answer_html.h"
#include "analyzer/render/html/columns.h"
#include "analyzer/render/html/escape.h"
#include "analyzer/render/html/packed.h"
#include "analyzer/render/html/page_head.h"
#include "analyzer/render/html/page_parts.h"
#include "analyzer/render/html/plain_tables.h"
#include "analyzer/render/json_fields.h"
#include "analyzer/render/text.h"

namespace vramtrack {
namespace {

constexpr size_t kTextTop = 10;
constexpr size_t kFewestSites = 100;

absl::string_view Plain(std::string_view text) { return {text.data(), text.size()}; }

std::string TextReport(const Report& report) {
  TextStyle style;
  style.unicode = true;
  return absl::StrCat("<pre class=\"text-report\">", EscapeLines(RenderText(report, style, kTextTop)), "</pre>\n",
                      PlainTables(report));
}

std::string Data(const Report& report, size_t sites) {
  Json data = ReportFields(report, SiteColumns(report, sites));
  data["all_sites"] = report.sites.size();
  return GzipBase64(data.dump(-1, ' ', false, Json::error_handler_t::replace));
}

}  // namespace

std::string RenderHtml(const Report& report, size_t max_bytes) {
  const PageParts& parts = kPageParts;
  std::string page = absl::StrCat(PageHead(PageTitle(report), report.tool_version, !parts.script.empty()),
                                  "<body>\n<main id=\"report\">\n", AnswerHtml(report));
  const std::string text = TextReport(report);
  if (parts.script.empty()) return absl::StrCat(page, text, "</main>\n</body>\n</html>\n");
  absl::StrAppend(&page, "<noscript>\n", text, "</noscript>\n</main>\n",
                  "<script id=\"data\" type=\"application/octet-stream\">");
  const std::string end = absl::StrCat("</script>\n<script>", Plain(parts.script), "</script>\n</body>\n</html>\n");
  size_t sites = std::min(kMaxPageSites, report.sites.size());
  std::string data = Data(report, sites);
  while (page.size() + data.size() + end.size() > max_bytes && sites > kFewestSites) {
    sites /= 2;
    data = Data(report, sites);
  }
  absl::StrAppend(&page, data, end);
  return page;
}

}  // namespace vramtrack
