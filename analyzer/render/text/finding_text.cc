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

namespace vramtrack {
namespace {

constexpr int kNarrowestLocation = 20;
constexpr int kExplanationLines = 4;
constexpr int kFindingLines = 2;
constexpr size_t kParts = 6, kPartsInShort = 3;
constexpr size_t kLeaksInShort = 3, kReasonsInShort = 3;

// What holds the blocks of a site by Python names, and what to change if that is certain. Nothing if no walk shows it.
void WriteHolder(const ReportSite& site, int indent, Page* page) {
  constexpr int kLabelColumns = 9;
  if (!site.holder) return;
  const std::string before(static_cast<size_t>(indent), ' ');
  const TextStyle& style = page->style();
  page->Words(InStyle(style, site.holder->explanation), indent + kLabelColumns, Paint::kPlain, before + "kept by");
  if (site.holder->hint.empty()) return;
  page->Words(InStyle(style, site.holder->hint), indent + kLabelColumns, Paint::kBold, before + "fix");
}

// How to find out what holds the blocks of a site; empty if a walk was made, or is of no use for the program.
std::string HowToFindHolder(const Report& report, const ReportSite& site) {
  if (site.holder || !report.walks.empty() || site.level != Level::kFramework) return "";
  if (std::none_of(site.frames.begin(), site.frames.end(), IsPython)) return "";
  // A walk looks for PyTorch's tensors.
  for (const ReportProcess& process : report.processes) {
    if (!process.allocators.empty()) return "";
  }
  return "who holds it: run again with --holders";
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
  const CodePlace place = PlaceOf(SitePlaces(report).Of(site));
  std::string title = LeakTitle(site);
  std::string rate =
      absl::StrCat(site.verdict == Verdict::kGrowingBuffer ? "grows by " : "leaks ", LeakRate(site), OnDevices(leak));
  std::string certainty = absl::StrCat("(", Certainty(report, site), ")");
  const std::string allocated = AllocatedBy(site);
  int left = style.columns - DisplayWidth(title) - 2 - DisplayWidth(rate) - 2;

  std::string location = CutBeginning(place.location, std::max(left, kNarrowestLocation));
  left -= DisplayWidth(location);
  bool function_fits = !place.function.empty() && DisplayWidth(place.behind) <= left;
  if (function_fits) left -= DisplayWidth(place.behind);
  const bool allocated_fits = function_fits && !allocated.empty() && DisplayWidth(allocated) + 2 <= left;
  if (allocated_fits) left -= DisplayWidth(allocated) + 2;
  bool certainty_fits = (function_fits || place.function.empty()) && DisplayWidth(certainty) + 2 <= left;

  std::string line = absl::StrCat(Painted(style, Paint::kAlarm, title), "  ", Painted(style, Paint::kBold, location));
  if (function_fits) line += place.behind;
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
void WriteParts(const Report& report, const ReportSite& leader, bool whole, Page* page) {
  const std::vector<LineOfLeak> lines = LeakParts(report).LinesOf(leader);
  if (lines.size() == 1) return;
  const auto notable = static_cast<size_t>(
      std::count_if(lines.begin(), lines.end(), [](const LineOfLeak& line) { return line.notable; }));
  const size_t shown = whole ? std::min(kParts, lines.size()) : std::min(kPartsInShort, std::max<size_t>(notable, 1));
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

void WriteNoLeak(const TextView& view) {
  Page* const page = view.page;
  const std::string title = Painted(page->style(), Paint::kGood, "NO LEAK");
  if (!view.options.Whole("answer")) return page->Words(NoLeakInShort(view.report), 8, Paint::kPlain, title);
  page->Words(NoLeakWords(view.report), 9, Paint::kPlain, title);
  for (const std::string& line : DeviceChanges(view.report)) page->Words(line, 9);
}

// What grows, who keeps it, and why it is not called a leak.
void WriteGrowingLine(const TextView& view, const ReportGrowthLine& line) {
  Page* const page = view.page;
  const std::string place =
      absl::StrCat(Printable(line.line), line.function.empty() ? "" : " in ", Printable(line.function));
  page->Words(absl::StrCat(place, ", ", GrowthWords(view.report, line)), 7, Paint::kBold,
              Painted(page->style(), Paint::kWarning, "GROWS"));
  const ReportSite* site = line.sites.empty() ? nullptr : FindSite(view.report, line.sites[0]);
  if (site != nullptr) {
    WriteHolder(*site, kFindingIndent, page);
    if (const std::string how = HowToFindHolder(view.report, *site); !how.empty()) page->Words(how, kFindingIndent);
  }
  page->Words(absl::StrCat("not called a leak: ", Printable(line.why)), kFindingIndent);
}

// What these say is sure, and no line leaks.
bool SaysThatItGrows(const ReportReason& reason) {
  return reason.id == "rising_peaks" || reason.id == "rising_reserve";
}

void WriteNotEnough(const TextView& view) {
  const ReportGrowthLine* const grows = GrowingLine(view.report);
  if (grows != nullptr) WriteGrowingLine(view, *grows);
  const std::vector<std::string> reasons = NotEnoughWords(view.report);
  // The first sentence has a title, unless a line was named above it.
  const bool sure = !view.report.reasons.empty() && SaysThatItGrows(view.report.reasons[0]);
  const char* const title = grows != nullptr ? "" : sure ? "GROWS" : "NOT ENOUGH EVIDENCE";
  const int indent = grows != nullptr || sure ? kFindingIndent : 21;
  size_t left = view.options.Whole("answer") ? SIZE_MAX : kReasonsInShort;
  for (const std::string& reason : reasons) {
    // The first sentence says of what grows most what has been said.
    if (grows != nullptr && &reason == &reasons[0] && reason.find(Printable(grows->line)) == 0) continue;
    if (left-- == 0) break;
    const bool titled = *title != '\0' && &reason == &reasons[0];
    view.page->Words(reason, indent, Paint::kPlain, titled ? Painted(view.page->style(), Paint::kWarning, title) : "");
  }
}

// Place and what it does, without a margin.
std::string FindingLine(const TextView& view, const FurtherFinding& finding, int columns) {
  const CodePlace place = PlaceOf(view.places.Of(*finding.site));
  const int left = columns - DisplayWidth(finding.what) - 2;
  const std::string location = CutBeginning(place.location, std::max(left, kNarrowestLocation));
  std::string line = Painted(view.page->style(), Paint::kBold, location);
  if (DisplayWidth(place.behind) <= left - DisplayWidth(location)) line += place.behind;
  int room = columns - DisplayWidth(location) - 2;
  return absl::StrCat(line, "  ", CutEnd(finding.what, room));
}

// One finding below the first, who keeps it, and why.
void WriteFinding(const TextView& view, const FurtherFinding& finding) {
  const ReportSite& site = *finding.site;
  Page* const page = view.page;
  page->Line(FindingLine(view, finding, page->style().columns - 2), 2);
  if (IsLeak(site)) WriteHolder(site, kFindingIndent, page);
  if (!site.explanation.empty()) {
    int room = kFindingLines * (page->style().columns - kFindingIndent);
    page->Words(CutEnd(Printable(site.explanation), room), kFindingIndent, Paint::kDim);
  }
}

// All leaks but the one that is the answer.
std::vector<FurtherFinding> FurtherLeaks(const Report& report) {
  std::vector<FurtherFinding> findings;
  const std::vector<LeakAtPlace> leaks = LeaksByPlace(report);
  for (size_t i = AnswerOf(report) == Answer::kLeak ? 1 : 0; i < leaks.size(); ++i) {
    const ReportSite* site = leaks[i].site;
    const std::string ranks = InHowManyRanks(*site);
    findings.push_back({site, absl::StrCat(WordsOf(site->verdict).does, LeakRate(*site), OnDevices(leaks[i]),
                                           ranks.empty() ? "" : ", ", ranks)});
  }
  return findings;
}

// The same in a line each, where the section of findings is not shown.
void WriteFurtherLeaks(const TextView& view) {
  if (view.options.Whole("findings")) return;
  const std::vector<FurtherFinding> leaks = FurtherLeaks(view.report);
  const int columns = view.page->style().columns - kFindingIndent - 6;
  for (size_t i = 0; i < leaks.size() && i < kLeaksInShort; ++i) {
    view.page->Line("also  " + FindingLine(view, leaks[i], columns), kFindingIndent);
  }
  if (leaks.size() > kLeaksInShort) {
    view.page->Line(
        absl::StrCat("and ", Plural(leaks.size() - kLeaksInShort, "more leak", "more leaks"), " (--show findings)"),
        kFindingIndent);
  }
}

}  // namespace

void WriteHeadline(const TextView& view) {
  const Report& report = view.report;
  Page* const page = view.page;
  const auto left_out = [&] {
    if (!report.left_out.empty()) page->Words(Printable(report.left_out), 0, Paint::kWarning);
  };
  const Answer answer = AnswerOf(report);
  if (answer == Answer::kNoLeak) WriteNoLeak(view);
  if (answer == Answer::kNotEnough) {
    WriteNotEnough(view);
    WriteFurtherLeaks(view);
  }
  const std::vector<LeakAtPlace> leaks = LeaksByPlace(report);
  if (answer != Answer::kLeak || leaks.empty()) return left_out();
  const bool whole = view.options.Whole("answer");
  const ReportSite* worst = leaks[0].site;
  WriteLeak(report, leaks[0], page);
  if (const std::string across = AcrossRanks(*worst); !across.empty())
    page->Words(across, kFindingIndent, Paint::kBold);
  if (whole) {
    const std::string full = TimeToOutOfMemory(report, *worst);
    if (!full.empty()) page->Words(full, kFindingIndent, Paint::kBold);
    if (!worst->explanation.empty()) {
      int room = kExplanationLines * (page->style().columns - kFindingIndent);
      page->Words(CutEnd(Printable(worst->explanation), room), kFindingIndent);
    }
    for (const std::string& line : UseSentences(*worst)) page->Words(line, kFindingIndent);
  } else {
    page->Words(ShortEvidence(report, *worst), kFindingIndent);
  }
  WriteParts(report, *worst, whole, page);
  if (const std::string how = HowToFindHolder(report, *worst); !how.empty())
    page->Words(how, kFindingIndent, Paint::kDim);
  WriteFurtherLeaks(view);
  if (!worst->frames.empty()) {
    page->Blank();
    // A leak of several sites is shown from its line outwards: the list above names the calls further in.
    const size_t begin = worst->parts > 0 ? worst->blame_frame : 0;
    const std::vector<ReportFrame> shown(worst->frames.begin() + static_cast<std::ptrdiff_t>(begin),
                                         worst->frames.end());
    WriteStack(shown, worst->blame_frame - begin,
               view.options.every_frame ? SIZE_MAX
               : whole                  ? kStackFrames
                                        : kShortFrames,
               page);
  }
  left_out();
}

void WriteStack(const std::vector<ReportFrame>& stack, size_t marked, size_t frames, Page* page) {
  TextStyle narrower = page->style();
  narrower.columns -= kFindingIndent - 2;
  for (const std::string& line : StackLines(narrower, stack, marked, frames)) page->Line(line, kFindingIndent - 2);
}

void WriteFurther(const TextView& view) {
  std::vector<FurtherFinding> findings = FurtherLeaks(view.report);
  const std::vector<FurtherFinding> others = FurtherFindings(view.report);
  findings.insert(findings.end(), others.begin(), others.end());
  if (findings.empty()) return;
  view.page->Section(view.report.ranking.empty() ? "Worth a look" : "Further findings");
  for (size_t i = 0; i < findings.size() && i < view.options.top; ++i) WriteFinding(view, findings[i]);
  if (findings.size() > view.options.top) {
    view.page->Line(
        absl::StrCat("and ", FormatCount(findings.size() - view.options.top), " more (--top ", findings.size(), ")"),
        2);
  }
}

}  // namespace vramtrack
