// SPDX-License-Identifier: Apache-2.0
#include "analyzer/render/text/sections.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "analyzer/base/display_text.h"
#include "analyzer/base/quantity.h"
#include "analyzer/model/answer.h"
#include "analyzer/model/frame_text.h"
#include "analyzer/model/site_places.h"
#include "analyzer/render/text/page.h"
#include "analyzer/render/words/answer_words.h"
#include "analyzer/render/words/finding_words.h"
#include "analyzer/render/words/verdict_words.h"

namespace vramtrack {
namespace {

constexpr int kNarrowestLocation = 20;
constexpr int kExplanationLines = 4;
constexpr int kFindingLines = 2;
constexpr size_t kParts = 6;

struct Place {
  std::string location, function;
  std::string function_behind;  // what is between the two, too
};

Place PlaceOf(const SitePlaces& places, const ReportSite& site) {
  const ReportFrame* frame = places.Of(site);
  if (frame == nullptr) return {FramePlace(frame), "", ""};
  return {FrameLocation(*frame), FrameFunction(*frame), FunctionBehindLocation(*frame)};
}

// Which line of a library allocated what the user's own line leaks: "allocated by transformers/trainer.py:617", or the
// line of the user's own that the named one called. Empty where it says no more than the named line.
std::string AllocatedBy(const ReportSite& site) {
  if (site.frames.empty() || site.blame_frame >= site.frames.size()) return "";
  if (!IsPython(site.frames[site.blame_frame])) return "";
  const ReportFrame& frame = site.frames[NamingFrame(site.frames, 0)];
  const ReportFrame& named = site.frames[site.blame_frame];
  if (!IsPython(frame) || (frame.file == named.file && frame.line == named.line)) return "";
  return absl::StrCat(frame.installed ? "allocated by " : "allocated at ", FrameLocation(frame));
}

// Returns how many of the texts fit on one line together.
size_t CountOnOneLine(const std::vector<std::string>& texts, int columns) {
  size_t count = 0;
  for (; count < texts.size(); ++count) {
    columns -= DisplayWidth(texts[count]) + (count > 0 ? 2 : 0);
    if (columns < 0) break;
  }
  return count;
}

// "LEAK  file:line  function  leaks RATE (certainty)": what does not fit on the line goes to the next ones, but the
// line, the place in the code and the rate stay together.
void WriteLeak(const Report& report, const LeakAtPlace& leak, Page* page) {
  const ReportSite& site = *leak.site;
  const TextStyle& style = page->style();
  Place place = PlaceOf(SitePlaces(report), site);
  std::string title = LeakTitle(site);
  std::string rate =
      absl::StrCat(site.verdict == Verdict::kGrowingBuffer ? "grows by " : "leaks ", LeakRate(site), OnDevices(leak));
  std::string certainty = absl::StrCat("(", Certainty(report, site), ")");
  const std::string allocated = AllocatedBy(site);
  int left = style.columns - DisplayWidth(title) - 2 - DisplayWidth(rate) - 2;

  std::string location = CutBeginning(place.location, std::max(left, kNarrowestLocation));
  left -= DisplayWidth(location);
  bool function_fits = !place.function.empty() && DisplayWidth(place.function_behind) <= left;
  if (function_fits) left -= DisplayWidth(place.function_behind);
  const bool allocated_fits = function_fits && !allocated.empty() && DisplayWidth(allocated) + 2 <= left;
  if (allocated_fits) left -= DisplayWidth(allocated) + 2;
  bool certainty_fits = (function_fits || place.function.empty()) && DisplayWidth(certainty) + 2 <= left;

  std::string line = absl::StrCat(Painted(style, Paint::kAlarm, title), "  ", Painted(style, Paint::kBold, location));
  if (function_fits) line += place.function_behind;
  if (allocated_fits) absl::StrAppend(&line, ", ", allocated);
  absl::StrAppend(&line, "  ", Painted(style, Paint::kBold, rate));
  if (certainty_fits) absl::StrAppend(&line, "  ", certainty);
  page->Line(line);
  std::vector<std::string> second;
  if (!function_fits && !place.function.empty()) second.push_back("in " + place.function);
  if (!allocated_fits && !allocated.empty()) second.push_back(allocated);
  if (!certainty_fits) second.push_back(certainty);
  // The line of the code, the rate and the holder are the first three lines.
  size_t before = second.size();
  if (site.holder) before = CountOnOneLine(second, style.columns - kFindingIndent);
  const auto rest = second.begin() + static_cast<std::ptrdiff_t>(before);
  if (before > 0) page->Words(absl::StrJoin(second.begin(), rest, "  "), kFindingIndent);
  WriteHolder(site, kFindingIndent, page);
  if (rest != second.end()) page->Words(absl::StrJoin(rest, second.end(), "  "), kFindingIndent);
}

// The lines of a leak, the largest sum first: what the sites there leave behind.
void WriteParts(const Report& report, const ReportSite& leader, size_t most, Page* page) {
  const std::vector<LineOfLeak> lines = LeakParts(report).LinesOf(leader);
  if (lines.size() == 1) return;
  const size_t shown = std::min(most, lines.size());
  int width = 0;
  for (size_t i = 0; i < shown; ++i) width = std::max(width, DisplayWidth(lines[i].rate));
  for (size_t i = 0; i < shown; ++i) {
    const size_t count = lines[i].sites.size();
    const std::string sites = count > 1 ? absl::StrCat("  (", Plural(count, "site", "sites"), ")") : "";
    const int left = page->style().columns - kFindingIndent - 2 - width - DisplayWidth(sites);
    page->Line(absl::StrCat(PadLeft(lines[i].rate, width), "  ", CutBeginning(lines[i].place, left), sites),
               kFindingIndent);
  }
  if (lines.size() > shown) {
    page->Line(absl::StrCat("and ", Plural(lines.size() - shown, "more line", "more lines")), kFindingIndent);
  }
}

void WriteNoLeak(const Report& report, Page* page) {
  page->Words(NoLeakWords(report), 9, Paint::kPlain, Painted(page->style(), Paint::kGood, "NO LEAK"));
  for (const std::string& line : DeviceChanges(report)) page->Words(line, 9);
}

void WriteNotEnough(const Report& report, Page* page) {
  bool first = true;
  for (const std::string& line : NotEnoughWords(report)) {
    page->Words(line, 21, Paint::kPlain,
                std::exchange(first, false) ? Painted(page->style(), Paint::kWarning, "NOT ENOUGH EVIDENCE") : "");
  }
}

// One finding below the first: place, what it does, and, where there is room for it, why.
void WriteFinding(const SitePlaces& places, const ReportSite& site, const std::string& what, bool reasons, Page* page) {
  const TextStyle& style = page->style();
  Place place = PlaceOf(places, site);
  int left = style.columns - 2 - DisplayWidth(what) - 2;
  std::string location = CutBeginning(place.location, std::max(left, kNarrowestLocation));
  left -= DisplayWidth(location);
  std::string line = Painted(style, Paint::kBold, location);
  if (DisplayWidth(place.function_behind) <= left) line += place.function_behind;
  absl::StrAppend(&line, "  ", what);
  page->Line(line, 2);
  if (IsLeak(site)) WriteHolder(site, kFindingIndent, page);
  if (reasons && !site.explanation.empty()) {
    int room = kFindingLines * (style.columns - kFindingIndent);
    page->Words(CutEnd(Printable(site.explanation), room), kFindingIndent, Paint::kDim);
  }
}

}  // namespace

void WriteAnswer(const Report& report, size_t frames, Page* page) {
  switch (AnswerOf(report)) {
    case Answer::kNoLeak:
      return WriteNoLeak(report, page);
    case Answer::kNotEnough:
      return WriteNotEnough(report, page);
    case Answer::kLeak:
      break;
  }
  const std::vector<LeakAtPlace> leaks = LeaksByPlace(report);
  if (leaks.empty()) return;
  const ReportSite* worst = leaks[0].site;
  WriteLeak(report, leaks[0], page);
  if (const std::string across = AcrossRanks(*worst); !across.empty())
    page->Words(across, kFindingIndent, Paint::kBold);
  std::string out_of_memory = TimeToOutOfMemory(report, *worst);
  if (!out_of_memory.empty()) page->Words(out_of_memory, kFindingIndent, Paint::kBold);
  if (!worst->explanation.empty()) {
    int room = kExplanationLines * (page->style().columns - kFindingIndent);
    page->Words(CutEnd(Printable(worst->explanation), room), kFindingIndent);
  }
  for (const std::string& line : UseSentences(*worst)) page->Words(line, kFindingIndent);
  WriteParts(report, *worst, kParts, page);
  if (const std::string how = HowToFindHolder(report, *worst); !how.empty())
    page->Words(how, kFindingIndent, Paint::kDim);
  if (worst->frames.empty() || frames == 0) return;
  page->Blank();
  // What one of several sites called beyond the line that leads to all of them is told by the list of them.
  const size_t begin = worst->parts > 0 ? worst->blame_frame : 0;
  const std::vector<ReportFrame> shown(worst->frames.begin() + static_cast<std::ptrdiff_t>(begin), worst->frames.end());
  WriteStack(shown, worst->blame_frame - begin, frames, page);
}

void WriteStack(const std::vector<ReportFrame>& stack, size_t marked, size_t frames, Page* page) {
  TextStyle narrower = page->style();
  narrower.columns -= kFindingIndent - 2;
  for (const std::string& line : StackLines(narrower, stack, marked, frames)) page->Line(line, kFindingIndent - 2);
}

void WriteFurtherFindings(const Report& report, size_t most, bool reasons, Page* page) {
  std::vector<FurtherFinding> findings;
  const std::vector<LeakAtPlace> leaks = LeaksByPlace(report);
  // The first one is the answer, if it is that.
  for (size_t i = AnswerOf(report) == Answer::kLeak ? 1 : 0; i < leaks.size(); ++i) {
    const ReportSite* site = leaks[i].site;
    const std::string ranks = InHowManyRanks(*site);
    findings.push_back({site, absl::StrCat(WordsOf(site->verdict).does, LeakRate(*site), OnDevices(leaks[i]),
                                           ranks.empty() ? "" : ", ", ranks)});
  }
  const std::vector<FurtherFinding> others = FurtherFindings(report);
  findings.insert(findings.end(), others.begin(), others.end());
  if (findings.empty()) return;
  page->Section(report.ranking.empty() ? "Worth a look" : "Further findings");
  SitePlaces places(report);
  for (size_t i = 0; i < findings.size() && i < most; ++i) {
    WriteFinding(places, *findings[i].site, findings[i].what, reasons, page);
  }
  if (findings.size() > most) {
    page->Line(absl::StrCat("and ", FormatCount(findings.size() - most), " more (--top ", findings.size(), ")"), 2);
  }
}

void WriteVerdictCounts(const Report& report, bool apart, Page* page) {
  uint64_t steady = SitesWith(report, Verdict::kSteady), once = SitesWith(report, Verdict::kOneTime);
  // Without steps nothing was judged: that something was allocated a few times says little.
  if (steady + once == 0 || report.steps.count == 0) return;
  if (apart) page->Blank();
  const char* other = report.ranking.empty() ? "" : "other ";
  std::vector<std::string> parts;
  if (steady > 0) parts.push_back(FormatCount(steady) + " steady");
  if (once > 0) parts.push_back(FormatCount(once) + " one-time");
  page->Words(absl::StrCat(FormatCount(steady + once), " ", other, "allocation ",
                           steady + once == 1 ? "site is" : "sites are", " fine (", absl::StrJoin(parts, ", "), ")."),
              0);
}

}  // namespace vramtrack
