// SPDX-License-Identifier: Apache-2.0
#include "analyzer/render/html/html.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "analyzer/base/quantity.h"
#include "analyzer/model/answer.h"
#include "analyzer/model/frame_text.h"
#include "analyzer/model/report.h"
#include "analyzer/model/site_places.h"
#include "analyzer/render/html/columns.h"
#include "analyzer/render/html/markup.h"
#include "analyzer/render/html/page_words.h"
#include "analyzer/render/json/json_fields.h"
#include "analyzer/render/text/chart.h"
#include "analyzer/render/text/text.h"
#include "analyzer/render/words/answer_words.h"
#include "analyzer/render/words/oom_words.h"
#include "analyzer/render/words/rank_words.h"
#include "analyzer/render/words/verdict_words.h"

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

// The location and the function of a site.
std::pair<std::string, std::string> PlaceOf(const Report& report, const ReportSite& site) {
  const ReportFrame* frame = SitePlaces(report).Of(site);
  if (frame == nullptr) return {FramePlace(frame), ""};
  return {FrameLocation(*frame), FrameFunction(*frame)};
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
  const auto [location, name] = PlaceOf(report, site);
  const std::string function =
      name.empty() ? "" : absl::StrCat(" <span class=\"function\">", EscapeHtml(name), "</span>");
  return Section("bad", LeakTitle(site).c_str(),
                 absl::StrCat("<code>", EscapeHtml(location), "</code>", function,
                              site.verdict == Verdict::kGrowingBuffer ? " grows by <strong>" : " leaks <strong>",
                              EscapeHtml(LeakRate(site) + OnDevices(leak)), "</strong>"),
                 absl::StrCat("<p class=\"certainty\">", EscapeHtml(Certainty(report, site)), "</p>\n",
                              Paragraph(AcrossRanks(site)), Paragraph(TimeToOutOfMemory(report, site)),
                              Paragraph(site.explanation), HolderHtml(site)));
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
    absl::StrAppend(&title, LeakRate(*leaks[0].site), " at ", PlaceOf(report, *leaks[0].site).first);
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

constexpr size_t kCurveColumns = 32;

std::string DeviceText(const std::optional<uint32_t>& device) { return device ? absl::StrCat(*device) : "host"; }

std::string Leaks(const Report& report, const SitePlaces& places) {
  MarkupTable table("Leaks", {"line", "verdict", "rate", "live at the end", "peak without it", "why"});
  for (const std::string& id : report.ranking) {
    const ReportSite* site = FindSite(report, id);
    if (site == nullptr) continue;
    table.Row({FramePlace(places.Of(*site)), NameOf(site->verdict), LeakRate(*site),
               BytesText(site->group ? site->group->live_bytes : site->live_bytes),
               BytesText(site->group ? site->group->peak_without : site->peak_without_site), site->explanation});
  }
  return table.Finish();
}

std::string Peaks(const Report& report) {
  std::string text;
  for (const ReportPeakLines& lines : report.peak_lines) {
    MarkupTable table(
        lines.device ? absl::StrCat("At the peak of device ", *lines.device) : "At the peak of host memory",
        {"line", "bytes", "call stacks", "peak without it", "category"});
    for (const ReportPeakLine& line : lines.lines) {
      table.Row({FramePlace(line.line ? &*line.line : nullptr), BytesText(line.bytes), FormatCount(line.sites),
                 BytesText(line.peak_without), line.category});
    }
    if (lines.other_sites > 0) {
      table.Row({"in no other row", BytesText(lines.other_bytes), FormatCount(lines.other_sites), "", ""});
    }
    text += table.Finish();
  }
  return text;
}

// The ranks that have a curve, those that are unlike the others first.
std::string Ranks(const Report& report, const SitePlaces& places) {
  std::vector<const ReportRank*> shown;
  for (const ReportRank& rank : report.ranks) {
    if (rank.curve) shown.push_back(&rank);
  }
  std::sort(shown.begin(), shown.end(),
            [](const ReportRank* a, const ReportRank* b) { return a->curve->order < b->curve->order; });
  TextStyle style;
  style.unicode = true;
  const RankCurveText curves(report, style, kCurveColumns);
  MarkupTable table("Memory of the ranks, on one scale",
                    {"rank", "live over the run", "peak", "at the end", "unlike the others"});
  const auto whole = [](const std::string& text) {
    return absl::StrCat("<span class=\"whole\">", EscapeHtml(text), "</span>");
  };
  for (const ReportRank* rank : shown) {
    table.MarkupRow({whole(RankName(*rank)), absl::StrCat("<code class=\"whole\">", curves.Of(*rank), "</code>"),
                     whole(BytesText(rank->peak_live)), whole(BytesText(rank->end_live)),
                     EscapeHtml(absl::StrJoin(RankReasons(report, places, {rank}), "; "))});
  }
  return table.Finish();
}

std::string Sites(const Report& report, const SitePlaces& places) {
  MarkupTable table("Sites", {"site", "line", "device", "kind", "category", "verdict", "allocations", "frees",
                              "at the peak", "live at the end"});
  for (const ReportSite& site : report.sites) {
    table.Row({site.id, FramePlace(places.Of(site)), DeviceText(site.device), site.kind, site.category,
               NameOf(site.verdict), FormatCount(site.allocations), FormatCount(site.frees),
               BytesText(site.bytes_at_peak), BytesText(site.live_bytes)});
  }
  return table.Finish();
}

// Tables of leaks, peaks, ranks and sites without scripts: for browsers that run none and builds without the bundle.
std::string PlainTables(const Report& report) {
  const SitePlaces places(report);
  return Leaks(report, places) + Peaks(report) + Ranks(report, places) + Sites(report, places);
}

constexpr size_t kTextTop = 10;
constexpr size_t kFewestSites = 100;

std::string TextReport(const Report& report) {
  TextStyle style;
  style.unicode = true;
  TextOptions options;
  options.top = kTextTop;
  options.verbose = true;
  return absl::StrCat("<pre class=\"text-report\">", EscapeLines(RenderText(report, style, options)), "</pre>\n",
                      PlainTables(report));
}

std::string Data(const Report& report, const std::vector<SourceExcerpt>& source, size_t sites) {
  Json data = ObjectWithout("sites", report);
  data["sites"] = SiteColumns(report, sites);
  data["all_sites"] = report.sites.size();
  data["source"] = ToJson(source);
  data["words"] = PageWords(report);
  return GzipBase64(DumpJson(data));
}

// The data of as many sites as there is room for, next to `other` bytes.
std::string DataThatFits(const Report& report, const std::vector<SourceExcerpt>& source, size_t other,
                         size_t max_bytes) {
  size_t sites = std::min(kMaxPageSites, report.sites.size());
  std::string data = Data(report, source, sites);
  while (other + data.size() > max_bytes && sites > kFewestSites) {
    sites /= 2;
    data = Data(report, source, sites);
  }
  return data;
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

std::string RenderPageAnswer(const Report& report) {
  return DumpJson({{"title", PageTitle(report)}, {"answer", AnswerHtml(report)}});
}

std::string RenderPageData(const Report& report, const std::vector<SourceExcerpt>& source, size_t max_bytes) {
  return DumpJson(DataThatFits(report, source, 0, max_bytes));
}

std::string RenderUpdate(const LiveState& state, const std::string& answer, const std::string& data) {
  std::string text = DumpJson(
      {{"version", state.version}, {"ended", state.ended}, {"trouble", state.trouble}, {"listed", state.listed}});
  text.pop_back();
  if (answer.empty()) return text + "}";
  absl::StrAppend(&text, ",\"page\":", answer);
  if (data.empty()) return text + "}";
  text.pop_back();
  return absl::StrCat(text, ",\"data\":", data, "}}");
}

}  // namespace vramtrack
