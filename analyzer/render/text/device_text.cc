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
constexpr int kChartRows = 3;
constexpr int kNarrowestFunction = 12;

// The one of these that is about the device, or about the host; null if there is none.
template <class Part>
const Part* OfDevice(const std::vector<Part>& parts, std::optional<uint32_t> device) {
  const auto found = std::find_if(parts.begin(), parts.end(), [&](const Part& part) { return part.device == device; });
  return found == parts.end() ? nullptr : &*found;
}

// Without what came after the last complete step, such as the end of the interpreter, unless the peak is there.
ReportTimeline UpToLastStep(const ReportTimeline& timeline, const ReportDevice& device, bool failed) {
  ReportTimeline part;
  part.unit = timeline.unit;
  part.position = timeline.position;
  part.live = timeline.live;
  if (failed || part.unit != PositionUnit::kSteps || !device.last_step || !device.last_step->step) return part;
  const int64_t last = *device.last_step->step;
  if (device.peak.step.value_or(0) > last) return part;
  const auto end = std::upper_bound(part.position.begin(), part.position.end(), static_cast<double>(last));
  const auto bins = static_cast<size_t>(end - part.position.begin());
  if (bins < 2) return part;
  part.position.resize(bins);
  part.live.high.resize(bins);
  return part;
}

void WriteChart(const ReportTimeline& timeline, Page* page) {
  if (timeline.live.high.size() < 2) return;
  TextStyle narrower = page->style();
  narrower.columns -= kSectionIndent;
  for (const std::string& line : Chart(narrower, timeline, timeline.live, kChartRows)) page->Line(line, kSectionIndent);
}

// "  (3 sites, optimizer state)": the calls of a line, where there are several, and what it is for; and the
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

// Who holds the memory at the peak, line by line; it adds up to what is live. `whole`: at most `top` rows, otherwise
// also no more than hold nearly all of it, and leaks.
void WritePeakTable(const Report& report, std::optional<uint32_t> device, size_t top, bool whole, Page* page) {
  constexpr double kNearlyAll = 0.95;
  const ReportPeakLines* peak = OfDevice(report.peak_lines, device);
  if (peak == nullptr || peak->lines.empty()) return;
  const TextStyle& style = page->style();
  page->Line(Painted(style, Paint::kDim, PeakRow(style, "at the peak", "peak if removed", false, "line")),
             kSectionIndent);
  const int left = style.columns - kSectionIndent - kPeakBytes - kPeakWithout - 2 - kPeakNote;
  uint64_t other_bytes = peak->other_bytes, other_sites = peak->other_sites, shown = 0;
  for (size_t i = 0; i < peak->lines.size(); ++i) {
    const ReportPeakLine& line = peak->lines[i];
    const bool enough =
        !whole && !line.leak && static_cast<double>(shown) >= kNearlyAll * static_cast<double>(peak->live);
    if (i >= top || enough) {
      other_bytes += line.bytes;
      other_sites += line.sites;
      continue;
    }
    shown += line.bytes;
    const std::string place = PlaceWithRemark(style, line.line ? &*line.line : nullptr, Remarks(line), left);
    page->Line(PeakRow(style, BytesText(line.bytes), BytesText(line.peak_without), line.leak, place), kSectionIndent);
  }
  if (other_bytes == 0) return;
  page->Line(PeakRow(style, BytesText(other_bytes), "", false,
                     absl::StrCat("in ", Plural(other_sites, "other site", "other sites"))),
             kSectionIndent);
}

// What the largest sites come to together, where each is a row of the table.
void WriteWithoutSeveral(const Report& report, const ReportDevice& device, Page* page) {
  const size_t several = device.peak_set.without.size();
  const ReportPeakLines* peak = OfDevice(report.peak_lines, device.index);
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

// Growth of less than this is not shown for a line.
constexpr double kBytesThatMatter = 512;

// ", +4.00 MiB per cycle"; nothing where it is not known.
std::string PerCycle(const std::optional<double>& growth) {
  return growth ? absl::StrCat(", ", *growth < 0 ? "" : "+", FormatByteCount(*growth), " per cycle") : "";
}

void WriteSleep(const ReportSleep& sleep, const std::string& of, size_t top, Page* page) {
  page->Section(absl::StrCat("Sleep and wake on device ", sleep.device, of));
  page->Words(absl::StrCat(Plural(sleep.cycles, "cycle", "cycles"), ", the last one released ",
                           BytesText(sleep.released_bytes)),
              kSectionIndent);
  page->Words(absl::StrCat("in use while asleep: ", BytesText(sleep.first_bytes), " in the first cycle, ",
                           BytesText(sleep.last_bytes), " in the last", PerCycle(sleep.bytes_per_cycle)),
              kSectionIndent);
  page->Line("what lived through the last sleep:", kSectionIndent);
  for (size_t i = 0; i < sleep.lines.size() && i < top; ++i) {
    const ReportSleepLine& line = sleep.lines[i];
    std::string text = absl::StrCat(BytesText(line.last_bytes), "  ", StackPlace(line.stack));
    if (line.level == Level::kDriver && !line.owner.empty()) absl::StrAppend(&text, "  (of ", line.owner, ")");
    if (line.bytes_per_cycle.value_or(0) >= kBytesThatMatter) absl::StrAppend(&text, PerCycle(line.bytes_per_cycle));
    page->Words(Printable(text), 2 * kSectionIndent);
  }
  if (sleep.lines.size() > top) {
    page->Line(absl::StrCat(FormatCount(sleep.lines.size() - top), " more lines"), 2 * kSectionIndent);
  }
}

}  // namespace

void WriteRows(const WordRows& rows, Page* page) {
  for (const auto& [label, words] : rows) {
    page->Words(words, kLabelColumns, Paint::kPlain, std::string(kSectionIndent, ' ') + label);
  }
}

void WriteAdvice(const TextView& view, const ReportDevice& device) {
  constexpr double kMuch = 0.2;
  WordRows rows;
  for (const ReportAdvice& advice : device.fragmentation.advice) {
    const bool much = static_cast<double>(advice.saved_bytes) >= kMuch * static_cast<double>(advice.reserved_before);
    if (view.options.Whole("advice") || (much && advice.saved_bytes > 0)) {
      rows.emplace_back("advice", AdviceText(advice));
    }
  }
  WriteRows(rows, view.page);
}

void WriteCurve(const TextView& view, const ReportDevice& device) {
  const ReportTimeline* timeline = OfDevice(view.report.timeline, device.index);
  if (timeline == nullptr) return;
  WriteChart(UpToLastStep(*timeline, device, HasRunOut(view.report, device.index)), view.page);
}

void WritePeakLines(const TextView& view, const ReportDevice& device) {
  WritePeakTable(view.report, device.index, view.options.top, view.options.Whole("lines"), view.page);
}

// Outside a framework's blocks: where the driver gave much to other callers, which the live bytes leave out.
void WriteDriver(const TextView& view, const ReportDevice& device) {
  if (device.other_owners.empty()) return;
  const TextStyle& style = view.page->style();
  bool any = false;
  for (const ReportSite& site : view.report.sites) {
    if (!IsNotableInDriver(site, device)) continue;
    if (!std::exchange(any, true)) view.page->Line("in addition, from the driver:", kSectionIndent);
    const int left = style.columns - kSectionIndent - kPeakBytes - kPeakWithout - 2 - kPeakNote;
    const std::string owner = absl::StrCat("  (of ", Printable(site.owner), ")");
    view.page->Line(PeakRow(style, BytesText(site.bytes_at_peak), "", IsLeak(site),
                            PlaceWithRemark(style, view.places.Of(site), {owner}, left)),
                    kSectionIndent);
  }
}

void WriteSavings(const TextView& view, const ReportDevice& device) {
  WriteWithoutSeveral(view.report, device, view.page);
  WriteLateFrees(view.report, view.places, device, view.page);
}

void WriteReleases(const TextView& view) {
  const Report& report = view.report;
  Page* const page = view.page;
  if (report.releases.empty()) return;
  page->Section("Returned to the driver");
  for (size_t i = 0; i < report.releases.size() && i < view.options.top; ++i) {
    const ReportRelease& release = report.releases[i];
    const std::string times = release.calls == 1 ? "once" : FormatCount(release.calls) + " times";
    std::string text =
        absl::StrCat(AskedByJob(release) ? "empty_cache() called " : "PyTorch flushed its cache ", times, ": ",
                     BytesText(release.bytes), " in ", Plural(release.segments, "segment", "segments"));
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

void WriteCards(const TextView& view) {
  for (const ReportCard& card : view.report.cards) {
    view.page->Section(CardTitle(card));
    WriteRows(CardRows(card, view.options.top), view.page);
  }
}

void WriteContexts(const TextView& view) {
  const WordRows rows = ContextRows(view.report, view.options.Whole("contexts"), view.options.top);
  if (rows.empty()) return;
  view.page->Section("CUDA contexts");
  WriteRows(rows, view.page);
}

void WriteHost(const TextView& view) {
  if (!view.report.host) return;
  view.page->Section(HostTitle(view.report));
  WriteRows(HostRows(view.report), view.page);
}

void WritePinned(const TextView& view) {
  const ReportSite* const first = view.report.ranking.empty() ? nullptr : FindSite(view.report, view.report.ranking[0]);
  const bool leaks = first != nullptr && !first->device && first->level != Level::kHandle;
  if (OfDevice(view.report.peak_lines, std::nullopt) == nullptr || !(leaks || view.options.Whole("pinned"))) return;
  view.page->Section("Pinned host memory");
  if (const ReportTimeline* timeline = OfDevice(view.report.timeline, std::nullopt)) WriteChart(*timeline, view.page);
  WritePeakTable(view.report, std::nullopt, view.options.top, /*whole=*/true, view.page);
}

void WriteSleeps(const TextView& view) {
  const std::vector<ReportProcess>& processes = view.report.processes;
  for (const ReportProcess& process : processes) {
    const std::string of = processes.size() == 1 ? "" : absl::StrCat(", ", ProcessName(process.rank, process.pid));
    for (const ReportSleep& sleep : process.sleeps) WriteSleep(sleep, of, view.options.top, view.page);
  }
}

}  // namespace vramtrack
