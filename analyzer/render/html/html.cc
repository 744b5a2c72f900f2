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
#include "analyzer/render/json/json_fields.h"
#include "analyzer/render/text/text.h"

namespace vramtrack {
namespace {

constexpr size_t kTextTop = 10;
constexpr size_t kFewestSites = 100;

std::string TextReport(const Report& report) {
  TextStyle style;
  style.unicode = true;
  return absl::StrCat("<pre class=\"text-report\">", EscapeLines(RenderText(report, style, kTextTop)), "</pre>\n",
                      PlainTables(report));
}

std::string Data(const Report& report, const std::vector<SourceExcerpt>& source, size_t sites) {
  Json data = ObjectWithout("sites", report);
  data["sites"] = SiteColumns(report, sites);
  data["all_sites"] = report.sites.size();
  data["source"] = ToJson(source);
  return GzipBase64(data.dump(-1, ' ', false, Json::error_handler_t::replace));
}

}  // namespace

std::string RenderHtml(const Report& report, const std::vector<SourceExcerpt>& source, size_t max_bytes) {
  const bool scripts = !kPageParts.script.empty();
  std::string page = absl::StrCat(PageHead(PageTitle(report), report.tool_version, scripts),
                                  "<body>\n<main id=\"report\">\n", AnswerHtml(report));
  const std::string text = TextReport(report);
  if (!scripts) return absl::StrCat(page, text, "</main>\n</body>\n</html>\n");
  absl::StrAppend(&page, "<noscript>\n", text, "</noscript>\n</main>\n");
  size_t sites = std::min(kMaxPageSites, report.sites.size());
  std::string end = PageScripts(Data(report, source, sites));
  while (page.size() + end.size() > max_bytes && sites > kFewestSites) {
    sites /= 2;
    end = PageScripts(Data(report, source, sites));
  }
  return page + end;
}

}  // namespace vramtrack
