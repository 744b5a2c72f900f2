// SPDX-License-Identifier: Apache-2.0
#include "analyzer/render/html/answer_html.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "analyzer/model/answer.h"
#include "analyzer/model/frame_text.h"
#include "analyzer/model/site_places.h"
#include "analyzer/render/html/escape.h"
#include "analyzer/render/text/answer_words.h"
#include "analyzer/render/text/oom_text.h"

namespace vramtrack {
namespace {

std::string Paragraph(const std::string& words) {
  return words.empty() ? "" : absl::StrCat("<p>", EscapeHtml(words), "</p>\n");
}

// `kind`: "bad", "good" or "unsure". `headline` is markup.
std::string Section(const char* kind, const char* title, const std::string& headline, const std::string& body) {
  return absl::StrCat("<section class=\"answer ", kind, "\">\n<p class=\"verdict\">", title, "</p>\n<h1>", headline,
                      "</h1>\n", body, "</section>\n");
}

struct Place {
  std::string location, function;
};

Place PlaceOf(const Report& report, const ReportSite& site) {
  const SitePlaces places(report);
  const ReportFrame* frame = places.Of(site);
  if (frame == nullptr) return {"(no stack recorded)", ""};
  return {FrameLocation(*frame), FrameFunction(*frame)};
}

std::string LeakHtml(const Report& report, const LeakAtPlace& leak) {
  const ReportSite& site = *leak.site;
  const Place place = PlaceOf(report, site);
  const std::string function =
      place.function.empty() ? "" : absl::StrCat(" <span class=\"function\">", EscapeHtml(place.function), "</span>");
  return Section("bad", LeakTitle(site).c_str(),
                 absl::StrCat("<code>", EscapeHtml(place.location), "</code>", function,
                              site.verdict == Verdict::kGrowingBuffer ? " grows by <strong>" : " leaks <strong>",
                              EscapeHtml(LeakRate(site) + OnDevices(leak)), "</strong>"),
                 absl::StrCat("<p class=\"certainty\">", EscapeHtml(Certainty(report, site)), "</p>\n",
                              Paragraph(AcrossRanks(site)), Paragraph(TimeToOutOfMemory(report, site)),
                              Paragraph(site.explanation)));
}

std::string OutOfMemoryHtml(const Report& report) {
  if (report.oom.empty()) return "";
  const ReportOom& oom = report.oom.back();
  return Section("bad", "OUT OF MEMORY", EscapeHtml(RequestWords(oom)), Paragraph(CauseWords(oom)));
}

}  // namespace

std::string PageTitle(const Report& report) {
  std::string title = report.oom.empty() ? "" : "out of memory, ";
  const std::vector<LeakAtPlace> leaks = LeaksByPlace(report);
  if (AnswerOf(report) == Answer::kLeak && !leaks.empty()) {
    absl::StrAppend(&title, LeakRate(*leaks[0].site), " at ", PlaceOf(report, *leaks[0].site).location);
  } else {
    title += AnswerOf(report) == Answer::kNoLeak ? "no leak" : "not enough evidence";
  }
  return EscapeHtml(title + " - vramtrack");
}

std::string AnswerHtml(const Report& report) {
  std::string html = OutOfMemoryHtml(report);
  switch (AnswerOf(report)) {
    case Answer::kNoLeak: {
      std::string body;
      for (const std::string& line : DeviceChanges(report)) body += Paragraph(line);
      return html + Section("good", "NO LEAK", EscapeHtml(NoLeakWords(report)), body);
    }
    case Answer::kNotEnough:
      return html + Section("unsure", "NOT ENOUGH EVIDENCE", EscapeHtml(NotEnoughWords(report)), "");
    case Answer::kLeak:
      break;
  }
  const std::vector<LeakAtPlace> leaks = LeaksByPlace(report);
  return leaks.empty() ? html : html + LeakHtml(report, leaks[0]);
}

}  // namespace vramtrack
