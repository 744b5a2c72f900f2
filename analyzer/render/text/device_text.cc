// SPDX-License-Identifier: Apache-2.0
#include "analyzer/render/text/sections.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "analyzer/base/display_text.h"
#include "analyzer/base/quantity.h"
#include "analyzer/model/answer.h"
#include "analyzer/model/frame_text.h"
#include "analyzer/model/notable.h"
#include "analyzer/model/site_places.h"
#include "analyzer/render/text/chart.h"
#include "analyzer/render/text/page.h"
#include "analyzer/render/words/answer_words.h"
#include "analyzer/render/words/device_words.h"

namespace vramtrack {
namespace {

constexpr int kLabelColumns = 17;  // indentation included
constexpr int kChartRows = 4;
constexpr int kNarrowestFunction = 12;

void WriteRows(const WordRows& rows, Page* page) {
  for (const auto& [label, words] : rows) {
    page->Words(words, kLabelColumns, Paint::kPlain, std::string(kSectionIndent, ' ') + label);
  }
}

const ReportTimeline* TimelineOf(const Report& report, std::optional<uint32_t> device) {
  for (const ReportTimeline& timeline : report.timeline) {
    if (timeline.device == device) return &timeline;
  }
  return nullptr;
}

void WriteChart(const Report& report, std::optional<uint32_t> device, Page* page) {
  const ReportTimeline* timeline = TimelineOf(report, device);
  if (timeline == nullptr || timeline->live.high.size() < 2) return;
  page->Blank();
  page->Line(timeline->unit == PositionUnit::kSteps ? "live bytes, step by step" : "live bytes over time",
             kSectionIndent);
  TextStyle narrower = page->style();
  narrower.columns -= kSectionIndent;
  for (const std::string& line : Chart(narrower, *timeline, timeline->live, kChartRows))
    page->Line(line, kSectionIndent);
}

// "  (3 sites, optimizer state)": what is behind a line, where it is more than one call, and what it is for; and the
// shorter forms of it.
std::vector<std::string> Remarks(const ReportPeakLine& line) {
  const std::string sites = line.sites > 1 ? Plural(line.sites, "site", "sites") : "";
  const std::string purpose = line.category.empty() || line.category == "unknown" || line.category == "other"
                                  ? ""
                                  : CategoryText(line.category);
  const std::string short_form = sites.empty() ? "" : absl::StrCat("  (", sites, ")");
  if (purpose.empty()) return {short_form};
  return {absl::StrCat("  (", sites, sites.empty() ? "" : ", ", purpose, ")"), short_form};
}

constexpr int kPeakBytes = 11, kPeakWithout = 17, kPeakNote = 6;

std::string PeakRow(const TextStyle& style, const std::string& bytes, const std::string& without, bool leak,
                    const std::string& rest) {
  return absl::StrCat(PadLeft(bytes, kPeakBytes), PadLeft(without, kPeakWithout), "  ",
                      Painted(style, Paint::kAlarm, PadRight(leak ? "leak" : "", kPeakNote)), rest);
}

// A place in the source with what is said about it, within `columns`. `remarks`: from the longest to the shortest; one
// is taken with which the function's name is whole, or else the last.
std::string PlaceWithRemark(const TextStyle& style, const ReportFrame* frame, const std::vector<std::string>& remarks,
                            int columns) {
  if (frame == nullptr) return FramePlace(frame) + Painted(style, Paint::kDim, remarks.back());
  const std::string function = FunctionBehindLocation(*frame);
  std::string place = CutBeginning(FrameLocation(*frame), columns);
  const int all = columns - DisplayWidth(place);
  std::string remark = remarks.back();
  for (const std::string& longer : remarks) {
    if (DisplayWidth(function) + DisplayWidth(longer) > all) continue;
    remark = longer;
    break;
  }
  int left = all - DisplayWidth(remark);
  if (left < 0) left = all, remark.clear();
  if (DisplayWidth(function) <= left || left >= kNarrowestFunction + 2) place += CutEnd(function, left);
  return place + Painted(style, Paint::kDim, remark);
}

const ReportPeakLines* PeakLinesOf(const Report& report, std::optional<uint32_t> device) {
  for (const ReportPeakLines& lines : report.peak_lines) {
    if (lines.device == device) return &lines;
  }
  return nullptr;
}

// Who holds the memory at the peak, line by line; it adds up to what is live.
void WritePeakLines(const Report& report, std::optional<uint32_t> device, size_t top, Page* page) {
  const ReportPeakLines* peak = PeakLinesOf(report, device);
  if (peak == nullptr || peak->lines.empty()) return;
  const TextStyle& style = page->style();
  page->Blank();
  page->Line(Painted(style, Paint::kDim, PeakRow(style, "at the peak", "peak if removed", false, "line")),
             kSectionIndent);
  const int left = style.columns - kSectionIndent - kPeakBytes - kPeakWithout - 2 - kPeakNote;
  uint64_t other_bytes = peak->other_bytes, other_sites = peak->other_sites;
  for (size_t i = 0; i < peak->lines.size(); ++i) {
    const ReportPeakLine& line = peak->lines[i];
    if (i >= top) {
      other_bytes += line.bytes;
      other_sites += line.sites;
      continue;
    }
    const std::string place = PlaceWithRemark(style, line.line ? &*line.line : nullptr, Remarks(line), left);
    page->Line(PeakRow(style, BytesText(line.bytes), BytesText(line.peak_without), line.leak, place), kSectionIndent);
  }
  if (other_bytes == 0) return;
  page->Line(PeakRow(style, BytesText(other_bytes), "", false,
                     absl::StrCat("in ", Plural(other_sites, "other site", "other sites"))),
             kSectionIndent);
}

// Beside a framework's blocks: where the driver gave much to somebody else, which is no part of the live bytes.
void WriteBesideFramework(const Report& report, const SitePlaces& places, const ReportDevice& device, Page* page) {
  if (device.other_owners.empty()) return;
  const TextStyle& style = page->style();
  bool any = false;
  for (const ReportSite& site : report.sites) {
    if (!IsNotableInDriver(site, device)) continue;
    if (!std::exchange(any, true)) page->Line("in addition, from the driver:", kSectionIndent);
    const int left = style.columns - kSectionIndent - kPeakBytes - kPeakWithout - 2 - kPeakNote;
    const std::string owner = absl::StrCat("  (of ", Printable(site.owner), ")");
    page->Line(PeakRow(style, BytesText(site.bytes_at_peak), "", IsLeak(site),
                       PlaceWithRemark(style, places.Of(site), {owner}, left)),
               kSectionIndent);
  }
}

// What the largest sites come to together, where each is a row of the table.
void WriteWithoutSeveral(const Report& report, const ReportDevice& device, Page* page) {
  const size_t several = device.peak_set.without.size();
  const ReportPeakLines* peak = PeakLinesOf(report, device.index);
  if (several < 2 || peak == nullptr || peak->lines.size() < several) return;
  for (size_t i = 0; i < several; ++i) {
    if (peak->lines[i].sites > 1 || peak->lines[i].site != device.peak_set.without.back().sites[i]) return;
  }
  std::vector<std::string> parts;
  for (size_t i = 1; i < several; ++i) {
    parts.push_back(absl::StrCat(BytesText(device.peak_set.without[i].peak), " without the ", i == 1 ? "two" : "three",
                                 " largest"));
  }
  page->Words(absl::StrCat("the peak would be ", absl::StrJoin(parts, ", ")), kSectionIndent);
}

void WriteLateFrees(const Report& report, const SitePlaces& places, const ReportDevice& device, Page* page) {
  if (device.late_frees.empty()) return;
  page->Blank();
  page->Line("possible savings:", kSectionIndent);
  for (const ReportLateFree& late : device.late_frees) {
    std::string text = absl::StrCat("late free, saves ", BytesText(late.peak_saved),
                                    " of the peak: most objects of these sites are freed within their step, and these "
                                    "were not, until a later one");
    const ReportSite* site = FindSite(report, late.site);
    const ReportFrame* frame = site == nullptr ? nullptr : places.Of(*site);
    if (frame != nullptr) {
      absl::StrAppend(&text, "; ", FramePlace(frame));
      if (late.sites > 1) absl::StrAppend(&text, " and ", FormatCount(late.sites - 1), " more");
    }
    page->Words(text, kSectionIndent + 2, Paint::kPlain, std::string(kSectionIndent, ' ') + "-");
  }
}

// What empty_cache() and the like returned.
void WriteReleases(const Report& report, size_t top, Page* page) {
  if (report.releases.empty()) return;
  page->Section("Returned to the driver");
  for (size_t i = 0; i < report.releases.size() && i < top; ++i) {
    const ReportRelease& release = report.releases[i];
    std::string text = absl::StrCat(release.calls == 1 ? "1 call" : FormatCount(release.calls) + " calls", ", ",
                                    BytesText(release.bytes), " in ", FormatCount(release.segments),
                                    release.segments == 1 ? " segment" : " segments");
    if (release.least != release.most) {
      absl::StrAppend(&text, " (", BytesText(release.least), " to ", BytesText(release.most), " each)");
    }
    if (release.processes > 1) absl::StrAppend(&text, ", in ", FormatCount(release.processes), " processes");
    if (!release.stack.empty()) absl::StrAppend(&text, "  ", StackPlace(release.stack));
    page->Words(text, kSectionIndent);
    if (release.timed > 0) {
      page->Words(absl::StrCat(FormatSeconds(release.seconds_at_least), " to ", FormatSeconds(release.seconds_at_most),
                               " in ", Plural(release.timed, "call", "calls")),
                  2 * kSectionIndent);
    }
  }
}

}  // namespace

void WriteDevices(const Report& report, size_t top, Page* page) {
  SitePlaces places(report);
  for (const ReportDevice& device : report.devices) {
    page->Section(DeviceTitle(device));
    for (const WordRows& rows :
         {MemoryRows(report, device), FragmentationRows(device), AdviceRows(device), UntracedRows(device)}) {
      WriteRows(rows, page);
    }
    WriteChart(report, device.index, page);
    WritePeakLines(report, device.index, top, page);
    WriteBesideFramework(report, places, device, page);
    WriteWithoutSeveral(report, device, page);
    WriteLateFrees(report, places, device, page);
  }
  WriteReleases(report, top, page);
  for (const ReportCard& card : report.cards) {
    page->Section(CardTitle(card));
    WriteRows(CardRows(card, top), page);
  }
  if (report.host) {
    page->Section(HostTitle(report));
    WriteRows(HostRows(*report.host), page);
  }
  if (PeakLinesOf(report, std::nullopt) == nullptr) return;
  page->Section("Pinned host memory");
  WriteChart(report, std::nullopt, page);
  WritePeakLines(report, std::nullopt, top, page);
}

void WriteDevicesInShort(const Report& report, size_t most, Page* page) {
  for (size_t i = 0; i < report.devices.size() && i < most; ++i) {
    const ReportDevice& device = report.devices[i];
    std::string line = absl::StrCat(DeviceTitle(device), ": peak ", BytesText(device.peak.live), " live");
    if (device.peak.reserved != device.peak.live)
      absl::StrAppend(&line, " of ", BytesText(device.peak.reserved), " reserved");
    if (device.peak.step) absl::StrAppend(&line, " at step ", *device.peak.step);
    page->Words(absl::StrCat(line, ", ", BytesText(device.last_step.value_or(device.end).live),
                             device.last_step ? " after the last step" : " at the end"),
                0);
  }
  if (report.devices.size() > most) page->Line(absl::StrCat("and ", report.devices.size() - most, " more devices"));
  if (!report.host || !report.host->resident.grows()) return;
  page->Words(absl::StrCat(absl::StrReplaceAll(HostTitle(report), {{"Host memory", "host"}}), ": ",
                           HostGrowth(report.host->resident)),
              0);
}

}  // namespace vramtrack
