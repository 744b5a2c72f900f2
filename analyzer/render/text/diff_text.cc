// SPDX-License-Identifier: Apache-2.0

#include "analyzer/render/text/diff_text.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "analyzer/base/display_text.h"
#include "analyzer/base/quantity.h"
#include "analyzer/render/text/page.h"
#include "analyzer/render/text/sections.h"

namespace vramtrack {
namespace {

constexpr int kSubjectColumns = 16;  // columns of what a device's line is about
constexpr int kValues = 12;          // columns of a value
constexpr size_t kMovesShown = 3, kPartsShown = 5;

void WriteAnswer(const DiffReport& report, Page* page) {
  const DiffAnswer answer = AnswerOf(report);
  page->Words(answer.words, static_cast<int>(answer.title.size()) + 2, Paint::kPlain,
              Painted(page->style(), answer.paint, answer.title));
  if (answer.finding == nullptr) return;
  page->Words(Printable(answer.finding->explanation), kFindingIndent);
  if (answer.finding->frames.empty()) return;
  page->Blank();
  WriteStack(answer.finding->frames, answer.finding->naming_frame, kStackFrames, page);
}

std::string Row(const std::string& name, const std::string& base, const std::string& next, const std::string& delta) {
  return absl::StrCat(PadRight(name, kSubjectColumns), PadLeft(base, kValues), PadLeft(next, kValues),
                      PadLeft(delta, kValues));
}

void WriteValue(const std::string& name, const DiffValue& value, const std::string& unit, Page* page) {
  std::string line = Row(name, FormatByteCount(value.base), FormatByteCount(value.next),
                         value.delta() == 0 ? "same" : SignedBytes(value.delta()));
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

void WriteWithParts(const DiffFinding& finding, Page* page) {
  WriteFinding(finding, 2, Paint::kBold, page);
  const size_t shown = std::min(finding.parts.size(), kPartsShown);
  for (size_t i = 0; i < shown; ++i) WriteFinding(finding.parts[i], 4, Paint::kPlain, page);
  if (shown < finding.parts.size()) {
    page->Line(absl::StrCat("and ", finding.parts.size() - shown, " more of the same leak"), 4);
  }
}

void WriteSections(const DiffReport& report, size_t top, Page* page) {
  for (const DiffSection& section : SectionsOf(report)) {
    page->Section(section.title);
    for (size_t i = 0; i < section.findings->size() && i < top; ++i) WriteWithParts((*section.findings)[i], page);
    if (section.findings->size() > top) {
      const std::string all = absl::StrCat(section.findings->size());
      page->Line(absl::StrCat("and ", section.findings->size() - top, " more (--top ", all, ")"), 2);
    }
  }
  if (report.moved.empty()) return;
  page->Section("Moved");
  page->Words(absl::StrCat(Plural(report.moved.size(), "site", "sites"),
                           " only moved (lines, files, names) and allocate as before"),
              2);
  for (size_t i = 0; i < report.moved.size() && i < kMovesShown; ++i) {
    page->Line(CutBeginning(PlaceOf(report.moved[i]), page->style().columns - 4), 4);
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
  for (const auto& [old, now] : report.inferred_renames) {
    page->Words(absl::StrCat("treated as renamed: ", Printable(old), " to ", Printable(now)), 2);
  }
  if (report.small_changes > 0) {
    page->Words(absl::StrCat(Plural(report.small_changes, "site differs", "sites differ"),
                             " within the noise, or too little to matter"),
                2);
  }
}

}  // namespace

std::string RenderDiffText(const DiffReport& report, const TextStyle& style, size_t top) {
  Page page(style);
  WriteAnswer(report, &page);
  if (report.comparable) {
    WriteSections(report, top, &page);
    WriteDevices(report, &page);
  }
  WriteRuns(report, &page);
  for (const std::string& warning : report.warnings) page.Words(Printable(warning), 2);
  return page.text();
}

}  // namespace vramtrack
