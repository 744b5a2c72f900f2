// SPDX-License-Identifier: Apache-2.0
#include "analyzer/render/text/diff_text.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "analyzer/base/display_text.h"
#include "analyzer/base/quantity.h"
#include "analyzer/model/frame_text.h"
#include "analyzer/render/text/page.h"
#include "analyzer/render/text/sections.h"

namespace vramtrack {
namespace {

constexpr int kSubjectColumns = 16;  // columns of what a device's line is about
constexpr int kValues = 12;          // columns of a value
constexpr size_t kPartsShown = 5;

std::string Row(const std::string& name, const std::string& base, const std::string& next, const std::string& delta) {
  return absl::StrCat(PadRight(name, kSubjectColumns), PadLeft(base, kValues), PadLeft(next, kValues),
                      PadLeft(delta, kValues));
}

void WriteValue(const std::string& name, const DiffValue& value, const std::string& unit, Page* page) {
  std::string line = Row(name, FormatByteCount(value.base), FormatByteCount(value.next), DeltaText(value));
  absl::StrAppend(&line, unit);
  page->Line(value.significant ? Painted(page->style(), Paint::kBold, line + "  *") : line, 2);
}

void WriteDevices(const DiffReport& report, Page* page) {
  bool starred = false;
  for (const DiffDevice& device : report.devices) {
    page->Section(absl::StrCat("Device ", device.index));
    page->Line(Painted(page->style(), Paint::kDim, Row("", "base", "new", "difference")), 2);
    WriteValue("peak", device.peak, "", page);
    WriteValue("reserved", device.reserved_peak, "", page);
    WriteValue("fragmentation", device.fragmentation, "", page);
    if (device.growth.base != 0 || device.growth.next != 0)
      WriteValue("growth", device.growth, absl::StrCat(" per ", NameOf(report.rate_unit)), page);
    starred |= device.peak.significant || device.fragmentation.significant || device.growth.significant;
    if (device.categories.size() > 1) page->Line("at the peak, by category:", 2);
    for (const auto& [name, value] : device.categories) {
      if (device.categories.size() == 1 || (value.base == 0 && value.next == 0)) continue;
      WriteValue("  " + name, value, "", page);
      starred |= value.significant;
    }
  }
  if (starred)
    page->Line(Painted(page->style(), Paint::kDim, "* more than the runs' own spread, and 1 % and 1 MiB"), 2);
}

void WriteFinding(const DiffFinding& finding, int indent, Paint paint, Page* page) {
  const std::string change = ChangeOf(finding), place = PlaceOf(finding);
  const int left = std::max(page->style().columns - indent - 2 - DisplayWidth(change), 20);
  page->Line(absl::StrCat(Painted(page->style(), paint, CutBeginning(place, left)), "  ", change), indent);
}

void WriteParts(const DiffFinding& finding, int indent, Page* page) {
  const size_t shown = std::min(finding.parts.size(), kPartsShown);
  for (size_t i = 0; i < shown; ++i) WriteFinding(finding.parts[i], indent, Paint::kPlain, page);
  if (shown < finding.parts.size()) {
    page->Line(absl::StrCat("and ", finding.parts.size() - shown, " more of the same leak"), indent);
  }
}

void WriteAnswer(const DiffAnswer& answer, Page* page) {
  page->Words(answer.words, static_cast<int>(answer.title.size()) + 2, Paint::kPlain,
              Painted(page->style(), answer.paint, answer.title));
  if (answer.finding == nullptr) return;
  // The headline says all of a leak.
  if (!IsRate(*answer.finding)) page->Words(Printable(answer.finding->explanation), kFindingIndent);
  WriteParts(*answer.finding, kFindingIndent, page);
  if (answer.finding->frames.empty()) return;
  page->Blank();
  WriteStack(answer.finding->frames, answer.finding->naming_frame, kStackFrames, page);
}

// Without `headline`, the finding that the answer is about.
void WriteSections(const DiffReport& report, const DiffFinding* headline, size_t top, Page* page) {
  for (const DiffSection& section : SectionsOf(report)) {
    std::vector<const DiffFinding*> shown;
    for (const DiffFinding& finding : *section.findings) {
      if (&finding != headline) shown.push_back(&finding);
    }
    if (shown.empty()) continue;
    page->Section(section.title);
    for (size_t i = 0; i < shown.size() && i < top; ++i) {
      WriteFinding(*shown[i], 2, Paint::kBold, page);
      WriteParts(*shown[i], 4, page);
    }
    if (shown.size() > top) {
      const std::string all = absl::StrCat(section.findings->size());
      page->Line(absl::StrCat("and ", shown.size() - top, " more (--top ", all, ")"), 2);
    }
  }
}

std::string SideLine(const DiffSide& side) {
  uint64_t events = 0, incomplete = 0;
  for (const ReportProcess& process : side.processes) {
    events += process.events;
    incomplete += !process.complete;
  }
  std::vector<std::string> parts;
  if (side.processes.size() > 1) parts.push_back(Plural(side.processes.size(), "process", "processes"));
  parts.push_back(absl::StrCat(Plural(side.steps.count, "step", "steps"), " (", NameOf(side.steps.source), ")"));
  parts.push_back(Plural(events, "event", "events"));
  if (incomplete > 0) parts.push_back("not complete");
  const std::string path = side.paths.empty() ? "" : Printable(side.paths[0]);
  return absl::StrCat(path, side.paths.size() > 1 ? " ..." : "", ": ", absl::StrJoin(parts, ", "));
}

void WriteRuns(const DiffReport& report, Page* page) {
  page->Section("The runs");
  page->Words(SideLine(report.base), 8, Paint::kPlain, "  base");
  page->Words(SideLine(report.next), 8, Paint::kPlain, "  new");
  if (!report.comparable) return;
  if (!report.normaliser.empty()) page->Words(report.normaliser, 2);
  if (report.identical) {
    page->Words("the allocations and frees are the same, in the same order", 2);
  } else if (report.reordered) {
    page->Words("the allocations and frees are the same, in another order", 2);
  }
  if (report.first_divergence) {
    page->Words(
        absl::StrCat("both runs allocate identically up to event ", FormatCount(report.first_divergence->event)), 2);
  }
  if (!report.moved.empty()) {
    page->Words(absl::StrCat(Plural(report.moved.size(), "site", "sites"), " only moved: to other lines or names"), 2);
  }
  if (!report.inferred_renames.empty()) {
    const auto& [old, now] = *report.inferred_renames.begin();
    const size_t others = report.inferred_renames.size() - 1;
    page->Words(absl::StrCat("treated as renamed: ", Printable(old), " to ", Printable(now),
                             others == 0 ? "" : absl::StrCat(", and ", Plural(others, "other", "others"))),
                2);
  }
  if (report.small_changes > 0) {
    page->Words(absl::StrCat(Plural(report.small_changes, "site differs", "sites differ"),
                             " within the noise, or too little to matter"),
                2);
  }
}

// Text from a trace, as it is and nothing more: no link, no mention, no table of its own.
std::string Escaped(const std::string& text) {
  std::string escaped;
  for (const char c : Printable(text)) {
    if (std::string_view("\\`*_{}[]<>#|@&~!$").find(c) != std::string_view::npos) escaped += '\\';
    escaped += c;
  }
  return escaped;
}

void WriteValue(const std::string& name, const DiffValue& value, const std::string& unit, std::string* text) {
  if (value.base == 0 && value.next == 0) return;
  const char* mark = value.significant ? "**" : "";
  absl::StrAppend(text, "| ", Escaped(name), " | ", FormatByteCount(value.base), unit, " | ",
                  FormatByteCount(value.next), unit, " | ", mark, DeltaText(value), mark, " |\n");
}

void WriteDevices(const DiffReport& report, std::string* text) {
  for (const DiffDevice& device : report.devices) {
    absl::StrAppend(text, "\n| device ", device.index, " | base | new | difference |\n|---|--:|--:|--:|\n");
    WriteValue("peak", device.peak, "", text);
    WriteValue("reserved", device.reserved_peak, "", text);
    WriteValue("fragmentation", device.fragmentation, "", text);
    WriteValue("growth", device.growth, absl::StrCat(" per ", NameOf(report.rate_unit)), text);
    if (device.categories.size() < 2) continue;
    for (const auto& [name, value] : device.categories) WriteValue(name + " at the peak", value, "", text);
  }
}

void WriteFindings(const DiffReport& report, size_t top, std::string* text) {
  for (const DiffSection& section : SectionsOf(report)) {
    absl::StrAppend(text, "\n| ", section.title, " | |\n|---|---|\n");
    for (size_t i = 0; i < section.findings->size() && i < top; ++i) {
      const DiffFinding& finding = (*section.findings)[i];
      absl::StrAppend(text, "| ", Escaped(PlaceOf(finding)), " | ", Escaped(ChangeOf(finding)), " |\n");
    }
    if (section.findings->size() > top) absl::StrAppend(text, "| and ", section.findings->size() - top, " more | |\n");
  }
}

void WriteStack(const DiffFinding& finding, std::string* text) {
  if (finding.frames.empty()) return;
  absl::StrAppend(text, "\n<details><summary>Where</summary>\n\n");
  TextStyle style;
  for (const std::string& line : StackLines(style, finding.frames, finding.naming_frame, kStackFrames)) {
    absl::StrAppend(text, "    ", line, "\n");  // an indented block ends with the indentation, whatever is in it
  }
  absl::StrAppend(text, "\n</details>\n");
}

std::string Amount(const DiffFinding& finding, double value) {
  if (finding.unit == ChangeUnit::kObjectsPerStep) {
    return absl::StrCat(FormatAbout(value), " ", finding.kind, value == 1 ? "" : "s");
  }
  return FormatByteCount(value);
}

// The change of a leak that is the worst of its kind: found in one list, or null.
const DiffFinding* Leak(const std::vector<DiffFinding>& findings, bool base_leaks, bool new_leaks) {
  for (const DiffFinding& finding : findings) {
    if (IsRate(finding) && finding.base_leak == base_leaks && finding.leak == new_leaks) return &finding;
  }
  return nullptr;
}

const DiffFinding* AnyLeak(const DiffReport& report, bool base_leaks, bool new_leaks) {
  for (const DiffSection& section : SectionsOf(report)) {
    if (const DiffFinding* found = Leak(*section.findings, base_leaks, new_leaks)) return found;
  }
  return nullptr;
}

// The finding that explains most of a device's change.
const DiffFinding* MainReason(const DiffReport& report, const DiffDevice& device) {
  const DiffFinding* most = nullptr;
  for (const DiffSection& section : SectionsOf(report)) {
    for (const DiffFinding& finding : *section.findings) {
      if (finding.unit != ChangeUnit::kBytesAtPeak || finding.device != device.index) continue;
      if ((finding.delta() > 0) != (device.peak.delta() > 0)) continue;
      if (most == nullptr || std::fabs(finding.delta()) > std::fabs(most->delta())) most = &finding;
    }
  }
  return most;
}

const DiffDevice* ChangedPeak(const DiffReport& report) {
  const DiffDevice* most = nullptr;
  for (const DiffDevice& device : report.devices) {
    if (!device.peak.significant) continue;
    if (most == nullptr || std::fabs(device.peak.delta()) > std::fabs(most->peak.delta())) most = &device;
  }
  return most;
}

std::string Compared(const DiffReport& report) {
  return absl::StrCat(Plural(report.matched_sites, "site", "sites"), ", ",
                      Plural(report.next.steps.count, "step", "steps"));
}

DiffAnswer LeakAnswer(const DiffFinding& finding, const char* title, Paint paint) {
  return {title, absl::StrCat(PlaceOf(finding), "  ", ChangeOf(finding)), paint, &finding};
}

DiffAnswer PeakAnswer(const DiffReport& report, const DiffDevice& device) {
  DiffAnswer answer;
  answer.title = absl::StrCat("PEAK ", SignedBytes(device.peak.delta()));
  answer.words = absl::StrCat("on device ", device.index, ", from ", FormatByteCount(device.peak.base), " to ",
                              FormatByteCount(device.peak.next));
  answer.paint = device.peak.delta() > 0 ? Paint::kAlarm : Paint::kGood;
  answer.finding = MainReason(report, device);
  if (answer.finding != nullptr) {
    absl::StrAppend(&answer.words, ", of which ", SignedBytes(answer.finding->delta()), " at ",
                    PlaceOf(*answer.finding));
  }
  return answer;
}

DiffAnswer Unchanged(const DiffReport& report) {
  DiffAnswer answer;
  answer.title = "NOTHING CHANGED";
  answer.paint = Paint::kGood;
  for (const DiffSide* side : {&report.base, &report.next}) {
    if (side->incomplete.empty()) continue;
    answer.title = "NO CHANGE FOUND";
    answer.paint = Paint::kWarning;
    answer.words = absl::StrCat("but the record of the ", side == &report.base ? "first" : "second",
                                " run is not complete (", side->incomplete, ")");
    return answer;
  }
  if (report.identical) {
    answer.words = absl::StrCat("identical allocation sequence of ", Plural(report.events, "event", "events"));
    return answer;
  }
  if (!report.tested) {
    answer.title = "NO CHANGE FOUND";
    answer.paint = Paint::kWarning;
    answer.words = absl::StrCat("but too few steps to distinguish a change from noise (", Compared(report), ")");
    return answer;
  }
  answer.words = absl::StrCat("beyond the noise of the runs (", Compared(report), ")");
  return answer;
}

}  // namespace

std::string RenderDiffText(const DiffReport& report, const TextStyle& style, size_t top) {
  Page page(style);
  const DiffAnswer answer = AnswerOf(report);
  WriteAnswer(answer, &page);
  if (report.comparable) {
    WriteSections(report, answer.finding, top, &page);
    WriteDevices(report, &page);
  }
  WriteRuns(report, &page);
  for (const std::string& warning : report.warnings) page.Words(Printable(warning), 2);
  return page.text();
}

std::string RenderDiffMarkdown(const DiffReport& report, size_t top) {
  const DiffAnswer answer = AnswerOf(report);
  std::string text = absl::StrCat("### GPU memory: ", Escaped(answer.title), "\n\n", Escaped(answer.words), "\n");
  if (!report.comparable) return text;
  if (answer.finding != nullptr) WriteStack(*answer.finding, &text);
  WriteFindings(report, top, &text);
  WriteDevices(report, &text);
  std::string notes;
  if (!report.moved.empty()) {
    absl::StrAppend(&notes, Plural(report.moved.size(), "site", "sites"), " only moved. ");
  }
  if (report.first_divergence) {
    absl::StrAppend(&notes, "The allocation sequences part at event ", FormatCount(report.first_divergence->event),
                    ". ");
  }
  if (!report.normaliser.empty()) absl::StrAppend(&notes, Escaped(report.normaliser), ". ");
  absl::StrAppend(&text, "\n", notes, Plural(report.base.steps.count, "step", "steps"), " of the base, ",
                  Plural(report.next.steps.count, "step", "steps"), " of the new run.\n");
  return text;
}

std::string SignedBytes(double bytes) { return absl::StrCat(bytes < 0 ? "" : "+", FormatByteCount(bytes)); }

std::string DeltaText(const DiffValue& value) { return value.delta() == 0 ? "same" : SignedBytes(value.delta()); }

std::string PlaceOf(const DiffFinding& finding) {
  const size_t last = finding.frames.size() - 1;
  return FramePlace(finding.frames.empty() ? nullptr : &finding.frames[std::min(finding.naming_frame, last)]);
}

std::string ChangeOf(const DiffFinding& finding) {
  const std::string old = Amount(finding, finding.base_value), now = Amount(finding, finding.new_value);
  if (IsRate(finding)) {
    const std::string per = absl::StrCat(" per ", NameOf(finding.rate_unit));
    if (!finding.leak) return absl::StrCat("no longer leaks ", old, per);
    if (!finding.base_leak) return absl::StrCat("leaks ", now, per);
    return absl::StrCat("leaks ", now, per, ", before ", old);
  }
  const char* when = finding.unit == ChangeUnit::kBytesAtPeak ? "at the peak"
                     : finding.rate_unit == RateUnit::kStep   ? "allocated per step"
                                                              : "allocated per window";
  return absl::StrCat(SignedBytes(finding.delta()), " ", when, " (", old, " to ", now, ")");
}

std::vector<DiffSection> SectionsOf(const DiffReport& report) {
  std::vector<DiffSection> sections;
  for (const DiffSection& section : {DiffSection{"New", &report.added},
                                     {"Grown", &report.grown},
                                     {"Gone", &report.gone},
                                     {"Shrunk", &report.shrunk}}) {
    if (!section.findings->empty()) sections.push_back(section);
  }
  return sections;
}

DiffAnswer AnswerOf(const DiffReport& report) {
  if (!report.comparable) return {"NOT COMPARABLE", Printable(report.reason), Paint::kWarning, nullptr};
  if (const DiffFinding* leak = AnyLeak(report, false, true)) return LeakAnswer(*leak, "NEW LEAK", Paint::kAlarm);
  if (const DiffFinding* leak = Leak(report.grown, true, true)) {
    return LeakAnswer(*leak, "LEAK GROWN", Paint::kAlarm);
  }
  const DiffDevice* device = ChangedPeak(report);
  if (device != nullptr && device->peak.delta() > 0) return PeakAnswer(report, *device);
  if (const DiffFinding* leak = AnyLeak(report, true, false)) {
    const bool sure = report.tested || leak->p_value;
    return LeakAnswer(*leak, sure ? "LEAK GONE" : "PROBABLY GONE", sure ? Paint::kGood : Paint::kWarning);
  }
  if (device != nullptr) return PeakAnswer(report, *device);
  const std::vector<DiffSection> sections = SectionsOf(report);
  if (sections.empty()) return Unchanged(report);
  size_t findings = 0;
  for (const DiffSection& section : sections) findings += section.findings->size();
  return {"CHANGED", absl::StrCat(Plural(findings, "site", "sites"), ", but no peak and no leak"), Paint::kWarning,
          nullptr};
}

}  // namespace vramtrack
