// SPDX-License-Identifier: Apache-2.0
#include "analyzer/render/html/html.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "analyzer/base/quantity.h"
#include "analyzer/model/answer.h"
#include "analyzer/model/frame_text.h"
#include "analyzer/model/report.h"
#include "analyzer/model/site_places.h"
#include "analyzer/render/html/columns.h"
#include "analyzer/render/html/markup.h"
#include "analyzer/render/html/page_words.h"
#include "analyzer/render/json/json_fields.h"
#include "analyzer/render/text/text.h"
#include "analyzer/render/words/answer_words.h"
#include "analyzer/render/words/finding_words.h"

namespace vramtrack {
namespace {

std::string DumpJson(const Json& value) { return value.dump(-1, ' ', false, Json::error_handler_t::replace); }

std::string Paragraph(const std::string& words) {
  return words.empty() ? "" : absl::StrCat("<p>", EscapeHtml(words), "</p>\n");
}

// `kind`: "bad", "good" or "unsure". `headline` is markup.
std::string Section(const char* kind, const char* title, const std::string& headline, const std::string& body) {
  return absl::StrCat("<section class=\"answer ", kind, "\">\n<p class=\"verdict\">", title, "</p>\n<h1>", headline,
                      "</h1>\n", body, "</section>\n");
}

// What keeps a leak alive, and what to change, as far as a walk found it.
std::string HolderHtml(const ReportSite& site) {
  if (!site.holder) return "";
  const std::string& hint = site.holder->hint;
  return Paragraph("kept by " + site.holder->explanation) +
         (hint.empty() ? "" : absl::StrCat("<p class=\"fix\"><b>fix:</b> ", EscapeHtml(hint), "</p>\n"));
}

std::string LeakHtml(const Report& report, const LeakAtPlace& leak) {
  const ReportSite& site = *leak.site;
  const CodePlace place = PlaceOf(SitePlaces(report).Of(site));
  const std::string function =
      place.function.empty() ? "" : absl::StrCat(" <span class=\"function\">", EscapeHtml(place.function), "</span>");
  return Section("bad", LeakTitle(site).c_str(),
                 absl::StrCat("<code>", EscapeHtml(place.location), "</code>", function,
                              site.verdict == Verdict::kGrowingBuffer ? " grows by <strong>" : " leaks <strong>",
                              EscapeHtml(LeakRate(site) + OnDevices(leak)), "</strong>"),
                 absl::StrCat("<p class=\"certainty\">", EscapeHtml(Certainty(report, site)), "</p>\n",
                              Paragraph(AcrossRanks(site)), Paragraph(ShortEvidence(report, site)), HolderHtml(site)));
}

std::string OutOfMemoryHtml(const Report& report) {
  if (report.oom.empty()) return "";
  const OomWords words = WordsOf(report, report.oom.back(), OomLines(report));
  return Section("bad", "OUT OF MEMORY", EscapeHtml(words.headline.text),
                 absl::StrCat("<p class=\"held\">", EscapeHtml(words.request), "</p>\n"));
}

// The answer in one line, as the title of the page.
std::string PageTitle(const Report& report) {
  std::string title = report.oom.empty() ? "" : "out of memory, ";
  const std::vector<LeakAtPlace> leaks = LeaksByPlace(report);
  if (AnswerOf(report) == Answer::kLeak && !leaks.empty()) {
    absl::StrAppend(&title, LeakRate(*leaks[0].site), " at ", PlaceOf(SitePlaces(report).Of(*leaks[0].site)).location);
  } else {
    title += AnswerOf(report) == Answer::kNoLeak ? "no leak" : "not enough evidence";
  }
  return EscapeHtml(title + " - vramtrack");
}

// The answer: which allocation failed; what leaks, at which line, how fast and how certainly; or that nothing leaks, or
// what evidence is missing. It is shown before any script runs.
std::string AnswerHtml(const Report& report) {
  std::string html = OutOfMemoryHtml(report);
  switch (AnswerOf(report)) {
    case Answer::kNoLeak: {
      std::string body;
      for (const std::string& line : DeviceChanges(report)) body += Paragraph(line);
      return html + Section("good", "NO LEAK", EscapeHtml(NoLeakWords(report)), body);
    }
    case Answer::kNotEnough: {
      const std::vector<std::string> lines = NotEnoughWords(report);
      std::string body;
      for (size_t i = 1; i < lines.size(); ++i) body += Paragraph(lines[i]);
      return html + Section("unsure", "NOT ENOUGH EVIDENCE", lines.empty() ? "" : EscapeHtml(lines[0]), body);
    }
    case Answer::kLeak:
      break;
  }
  const std::vector<LeakAtPlace> leaks = LeaksByPlace(report);
  return leaks.empty() ? html : html + LeakHtml(report, leaks[0]);
}

constexpr size_t kTextTop = 10;
constexpr size_t kFewestSites = 100;

std::string TextReport(const Report& report) {
  TextStyle style;
  style.unicode = true;
  TextOptions options;
  options.top = kTextTop;
  options.verbose = true;
  return absl::StrCat("<pre class=\"text-report\">", EscapeLines(RenderText(report, style, options)), "</pre>\n");
}

// The data of as many sites as there is room for, next to `other` bytes.
std::string DataThatFits(const Report& report, const std::vector<SourceExcerpt>& source, size_t other,
                         size_t max_bytes) {
  Json data = ObjectWithout("sites", report, &report.sites);
  data["source"] = ToJson(source);
  data["words"] = PageWords(report);
  for (size_t sites = std::min(kMaxPageSites, report.sites.size());; sites /= 2) {
    data["sites"] = SiteColumns(report, sites);
    std::string packed = GzipBase64(DumpJson(data));
    if (other + packed.size() <= max_bytes || sites <= kFewestSites) return packed;
  }
}

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

std::string RenderHtml(const Report& report, const std::vector<SourceExcerpt>& source, size_t max_bytes) {
  const std::string page = absl::StrCat(PageHead(PageTitle(report), report.tool_version, PageUse::kScripts),
                                        "<body>\n<main id=\"report\">\n", AnswerHtml(report), "<noscript>\n",
                                        TextReport(report), "</noscript>\n</main>\n");
  return page + PageScripts(DataThatFits(report, source, page.size() + PageScripts("").size(), max_bytes));
}

std::string RenderLivePage(const std::string& tool_version) {
  return absl::StrCat(
      PageHead("vramtrack", tool_version, PageUse::kLive),
      "<body data-live=\"update\">\n<main id=\"report\">\n<noscript>This page needs scripts. The command "
      "vramtrack report TRACE prints the same report as text.</noscript>\n</main>\n",
      PageScripts(""));
}

std::string RenderPageReport(const Report& report, const std::vector<SourceExcerpt>& source, size_t max_bytes) {
  return DumpJson({{"title", PageTitle(report)},
                   {"answer", AnswerHtml(report)},
                   {"data", DataThatFits(report, source, 0, max_bytes)}});
}

std::string RenderUpdate(const LiveState& state, const std::string& report) {
  std::string text = DumpJson(
      {{"version", state.version}, {"ended", state.ended}, {"trouble", state.trouble}, {"listed", state.listed}});
  if (report.empty()) return text;
  text.pop_back();
  return absl::StrCat(text, ",\"page\":", report, "}");
}

std::string RenderTraceList(const std::string& folder, const std::vector<ListedRun>& runs,
                            const std::string& tool_version) {
  const std::string title = absl::StrCat("Traces in ", EscapeHtml(folder));
  std::string page = absl::StrCat(PageHead(title + " - vramtrack", tool_version, PageUse::kPlain),
                                  "<body>\n<main id=\"report\">\n<h1>", title, "</h1>\n");
  for (const ListedRun& run : runs) page += RunHtml(run);
  return page + "</main>\n</body>\n</html>\n";
}

}  // namespace vramtrack
