// SPDX-License-Identifier: Apache-2.0
#include "analyzer/render/text/sections.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "analyzer/base/display_text.h"
#include "analyzer/base/quantity.h"
#include "analyzer/model/answer.h"
#include "analyzer/model/frame_text.h"
#include "analyzer/model/notable.h"
#include "analyzer/model/site_places.h"
#include "analyzer/render/text/answer_words.h"
#include "analyzer/render/text/chart.h"
#include "analyzer/render/text/needs_text.h"
#include "analyzer/render/text/page.h"

namespace vramtrack {
namespace {

constexpr int kLabelColumns = 17;  // indentation included
constexpr int kChartRows = 4;
constexpr int kNarrowestFunction = 12;

std::string Title(const ReportDevice& device) {
  std::string title = absl::StrCat("Device ", device.index);
  if (!device.name.empty()) absl::StrAppend(&title, ": ", Printable(device.name));
  if (device.total_bytes != 0) absl::StrAppend(&title, ", ", BytesText(device.total_bytes));
  if (device.processes > 1) {
    absl::StrAppend(&title, ", of ", ProcessName(device.rank, device.pid));
  }
  return title;
}

// What cudaMemGetInfo reports as used includes the host's part.
std::string SharedWithHost(const ReportDevice& device) {
  return absl::StrCat("shared with the host (integrated device): host and pinned memory take from the same ",
                      device.total_bytes != 0 ? BytesText(device.total_bytes) : "memory",
                      device.unattributed_bytes != 0 ? ", and are among the unattributed bytes" : "");
}

std::string Moment(const ReportDevice& device, const ReportMoment& moment) {
  std::string text = BytesText(moment.live) + " live";
  if (moment.reserved != moment.live) absl::StrAppend(&text, ", ", BytesText(moment.reserved), " reserved");
  if (moment.device_used != 0 && moment.device_used != moment.reserved) {
    absl::StrAppend(&text, ", ", BytesText(moment.device_used), " used on the device",
                    device.asked_free_memory ? "" : " besides the CUDA context");
  }
  if (moment.step) absl::StrAppend(&text, ", at step ", *moment.step);
  return text;
}

// `told`: whether it has been told already, or has come about.
std::string WhenFull(const ReportGrowth& growth, bool told) {
  if (told) return "";
  if (!growth.refused.empty()) return "; no OOM forecast: " + Printable(growth.refused);
  std::string full = FullInSteps(growth);
  if (full.empty()) return "";
  if (growth.seconds_to_oom && *growth.steps_to_oom >= 1) {
    absl::StrAppend(&full, ", in about ", FormatSeconds(*growth.seconds_to_oom));
  }
  return ", " + full;
}

// A row for what is live, and one for each of the other figures that adds to that. `ran_out`: it has come to the end of
// the device already.
std::vector<std::string> GrowthRows(const ReportDevice& device, bool ran_out) {
  constexpr size_t kLines = 4;
  const ReportGrowth& live = *device.growth;
  std::vector<std::string> rows;
  if (live.ledger) rows.push_back(WhoGrew(*live.ledger, /*bytes=*/true, kLines));
  if (!device.growth_of || live.ci_low > 0) rows.push_back(RateWithInterval(live) + WhenFull(live, ran_out));
  if (!device.growth_of) return rows;
  const std::pair<const char*, const ReportGrowth*> others[] = {{"reserved", &device.growth_of->reserved},
                                                                {"used", &device.growth_of->device_used}};
  std::string said;
  for (const auto& [name, growth] : others) {
    // One report has one forecast: that of the headline, where there is one.
    const bool told = live.steps_to_oom || (!live.refused.empty() && growth->refused == live.refused);
    const std::string row =
        absl::StrCat(FormatByteCount(growth->bytes_per_step), " per step", WhenFull(*growth, ran_out || told));
    if (growth->ci_low <= 0 || row == said) continue;
    rows.push_back(absl::StrCat(name, " ", row));
    said = row;
  }
  return rows;
}

std::string Fragmentation(const ReportFragmentation& fragmentation) {
  if (!fragmentation.refused.empty()) return absl::StrCat("not known (", fragmentation.refused, ")");
  std::vector<std::string> parts = {BytesText(fragmentation.live) + " live"};
  auto add = [&](uint64_t bytes, const char* name) {
    if (bytes != 0) parts.push_back(absl::StrCat(BytesText(bytes), " ", name));
  };
  add(fragmentation.rounding, "rounding");
  add(fragmentation.free_releasable, "free and releasable");
  add(fragmentation.free_pinned, "free but pinned");
  if (parts.size() == 1) return absl::StrCat("none: the ", BytesText(fragmentation.reserved), " reserved are all live");
  return absl::StrCat(BytesText(fragmentation.reserved), " reserved = ", absl::StrJoin(parts, " + "));
}

std::string MemoryPool(const ReportMemoryPool& pool) {
  std::string text = absl::StrCat(pool.pool, ": ", BytesText(pool.peak_live), " live at its peak, in ",
                                  BytesText(pool.upper_bound), " of pages");
  if (pool.free_releasable > 0) {
    absl::StrAppend(&text, "; it may hold ", BytesText(pool.free_releasable), " that is free");
    if (pool.free_releasable_at_least > 0) {
      absl::StrAppend(&text, ", ", BytesText(pool.free_releasable_at_least), " at least");
    }
    if (pool.step) absl::StrAppend(&text, ", at step ", *pool.step);
  }
  if (!pool.release_threshold) {
    absl::StrAppend(&text, "; its release threshold is unknown");
  } else if (*pool.release_threshold == 0) {
    absl::StrAppend(&text, "; no release threshold: frees unused memory at each synchronization");
  } else {
    absl::StrAppend(&text, "; release threshold ",
                    KeepsEverything(pool) ? "unlimited" : BytesText(*pool.release_threshold));
  }
  return text;
}

// What adds up to the memory that is used on the device.
std::string Ledger(const ReportDevice& device) {
  const ReportFrameworkShare& share = *device.peak.framework;
  std::vector<std::string> parts = {BytesText(device.peak.live) + " live", BytesText(share.cached) + " cached"};
  constexpr size_t kMostOwners = 4;
  uint64_t others = share.others;
  for (size_t i = 0; i < device.other_owners.size() && i < kMostOwners; ++i) {
    const auto& [owner, bytes] = device.other_owners[i];
    if (bytes > others) break;
    parts.push_back(absl::StrCat(BytesText(bytes), " of ", owner.empty() ? "unknown owners" : Printable(owner)));
    others -= bytes;
  }
  if (others != 0) parts.push_back(BytesText(others) + " of others");
  if (share.overhead != 0) parts.push_back(BytesText(share.overhead) + " of the driver's granularity");
  if (share.unattributed != 0) parts.push_back(BytesText(share.unattributed) + " unattributed");
  return absl::StrCat(BytesText(device.peak.device_used), " used at the peak",
                      device.asked_free_memory ? "" : " besides the CUDA context", " = ", absl::StrJoin(parts, " + "));
}

std::string OnlyCuptiText(const ReportDevice& device) {
  std::vector<std::string> parts;
  for (const ReportOnlyCupti& only : device.only_cupti) {
    parts.push_back(absl::StrCat(only.library.empty() ? "an unknown library" : Printable(only.library), ": ",
                                 BytesText(only.at_peak), " at the peak, ", BytesText(only.at_end), " at the end"));
  }
  return absl::StrJoin(parts, "; ");
}

std::string PeakCategories(const ReportDevice& device) {
  std::vector<std::pair<std::string, uint64_t>> categories;
  for (const ReportPeakCategory& category : device.peak_set.categories) {
    categories.emplace_back(category.name, category.bytes);
  }
  return CategoriesText(categories);
}

void Row(const std::string& label, const std::string& text, Page* page) {
  page->Words(text, kLabelColumns, Paint::kPlain, std::string(kSectionIndent, ' ') + label);
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
  if (frame == nullptr) return "(no stack recorded)" + Painted(style, Paint::kDim, remarks.back());
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
      absl::StrAppend(&text, "; ", FrameLocation(*frame), FunctionBehindLocation(*frame));
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
    const size_t frame = NamingFrame(release.stack, 0);
    if (frame < release.stack.size()) {
      absl::StrAppend(&text, "  ", FrameLocation(release.stack[frame]), FunctionBehindLocation(release.stack[frame]));
    }
    page->Words(text, kSectionIndent);
    if (release.timed > 0) {
      page->Words(absl::StrCat(FormatSeconds(release.seconds_at_least), " to ", FormatSeconds(release.seconds_at_most),
                               " in ", Plural(release.timed, "call", "calls")),
                  2 * kSectionIndent);
    }
  }
}

// Whose objects keep segments that are mostly free.
// `all`: what is pinned in all.
void WritePins(const std::vector<ReportPin>& pins, uint64_t all, const char* label, const char* which, Page* page) {
  constexpr size_t kMostPins = 3;
  const size_t notable = std::min(NotablePins(pins, all), kMostPins);
  for (size_t i = 0; i < notable; ++i) {
    const ReportPin& pin = pins[i];
    std::string text = absl::StrCat(BytesText(pin.bytes), " free in ", pin.segments, which,
                                    pin.segments == 1 ? " segment pinned by " : " segments pinned by ");
    if (pin.stack.empty()) {
      absl::StrAppend(&text, "an unknown place");
    } else {
      const ReportFrame& frame = pin.stack[NamingFrame(pin.stack, 0)];
      absl::StrAppend(&text, FrameLocation(frame), FunctionBehindLocation(frame));
    }
    Row(i == 0 ? label : "", text, page);
  }
}

std::string CardProcess(const ReportCard::Process& process) {
  const std::string began = process.began_s > 0 ? absl::StrCat("began ", FormatSeconds(process.began_s), " after it")
                                                : "the first that began";
  return absl::StrCat(ProcessName(process.rank, process.pid), ": ", BytesText(process.at_most), "; peak ",
                      BytesText(process.peak), ", ", BytesText(process.last), " at its end; ", began);
}

void WriteCards(const Report& report, size_t top, Page* page) {
  for (const ReportCard& card : report.cards) {
    page->Section(absl::StrCat("A card that ", card.processes.size(),
                               " processes share: ", Printable(card.name.empty() ? card.uuid : card.name)));
    std::string most = absl::StrCat(BytesText(card.most), " at most");
    if (card.total_bytes > 0) absl::StrAppend(&most, " of ", BytesText(card.total_bytes));
    Row("together", absl::StrCat(most, ", ", FormatSeconds(card.most_s), " after the first of them began"), page);
    for (size_t i = 0; i < card.processes.size() && i < top; ++i) {
      Row(i == 0 ? "of that" : "", CardProcess(card.processes[i]), page);
    }
    if (card.processes.size() > top) Row("", absl::StrCat("and ", card.processes.size() - top, " more"), page);
    if (card.others.value_or(0) > 0) {
      Row("others", BytesText(*card.others) + ": CUDA contexts, and processes that were not traced", page);
    }
  }
}

// Of several processes, which one.
std::string OfProcess(const Report& report, const ReportHost& host) {
  if (report.processes.size() < 2) return "";
  return absl::StrCat(" of ", ProcessName(host.rank, host.pid));
}

std::string HostGrowth(const ReportHostFigure& resident) {
  const std::string rate = RateWithInterval(*resident.growth);
  if (resident.grows()) {
    return absl::StrCat("resident memory grows by ", rate,
                        "; this is not GPU memory, a profiler of host memory (memray, heaptrack) finds the line");
  }
  const std::string why = resident.growth->refused.empty() ? "" : ": " + resident.growth->refused;
  return absl::StrCat("changes by ", rate, ", no clear growth", why);
}

void WriteHost(const Report& report, Page* page) {
  if (!report.host) return;
  const ReportHost& host = *report.host;
  page->Section(absl::StrCat("Host memory", OfProcess(report, host)));
  std::string resident =
      absl::StrCat(BytesText(host.resident.last), " at the end, ", BytesText(host.resident.first), " at first");
  if (host.shared > 0) absl::StrAppend(&resident, "; ", BytesText(host.shared), " of it is files or shared memory");
  Row("resident", resident, page);
  if (host.resident.growth) Row("growth", HostGrowth(host.resident), page);
  if (host.pinned.peak == 0) return;
  std::string pinned = absl::StrCat(BytesText(host.pinned.last), " at the end, peak ", BytesText(host.pinned.peak));
  if (host.pinned.grows()) absl::StrAppend(&pinned, "; grows by ", RateWithInterval(*host.pinned.growth));
  Row("pinned", pinned, page);
}

void WriteHostInShort(const Report& report, Page* page) {
  if (!report.host || !report.host->resident.grows()) return;
  page->Words(absl::StrCat("host", OfProcess(report, *report.host), ": ", HostGrowth(report.host->resident)), 0);
}

}  // namespace

void WriteDevices(const Report& report, size_t top, Page* page) {
  SitePlaces places(report);
  for (const ReportDevice& device : report.devices) {
    page->Section(Title(device));
    if (device.integrated) Row("memory", SharedWithHost(device), page);
    Row("peak", Moment(device, device.peak), page);
    if (const std::string categories = PeakCategories(device); !categories.empty())
      Row("at the peak", categories, page);
    Row("end", Moment(device, device.last_step.value_or(device.end)), page);
    if (device.peak.framework) Row("ledger", Ledger(device), page);
    if (device.growth) {
      const std::vector<std::string> rows = GrowthRows(device, HasRunOut(report, device.index));
      for (size_t i = 0; i < rows.size(); ++i) Row(i == 0 ? "growth" : "", rows[i], page);
    }
    if (device.held) {
      const std::vector<std::string> rows = HeldRows(*device.held);
      for (size_t i = 0; i < rows.size(); ++i) Row(i == 0 ? "held" : "", rows[i], page);
    }
    if (device.by_value) Row("by step value", Printable(ValueFitText(*device.by_value)), page);
    if (device.suggested_limit) Row("max_memory", Printable(SuggestedLimitText(device)), page);
    const ReportFragmentation& fragmentation = device.fragmentation;
    if (fragmentation.reserved != 0) Row("fragmentation", Fragmentation(fragmentation), page);
    if (fragmentation.upper_bound != 0 && fragmentation.upper_bound < fragmentation.reserved) {
      Row("",
          absl::StrCat("minimum possible ", BytesText(fragmentation.lower_bound), "; best allocator found ",
                       BytesText(fragmentation.upper_bound)),
          page);
    }
    if (IsMuchPinned(fragmentation)) {
      const ReportSegmentUse& use = *fragmentation.at_reserved_peak;
      Row("pinned",
          absl::StrCat("at the peak of reserved bytes (", BytesText(use.reserved),
                       use.step ? absl::StrCat(", step ", *use.step) : std::string(), "), ", BytesText(use.free_pinned),
                       " were free but pinned by live blocks:"),
          page);
      WritePins(fragmentation.pins, use.free_pinned, "", "", page);
    }
    if (fragmentation.growth) {
      Row("reserve grows", Printable(fragmentation.growth->explanation), page);
      WritePins(fragmentation.growth->pins, fragmentation.growth->free_pinned, "", " new", page);
    }
    for (const ReportMemoryPool& pool : device.memory_pools) Row("pool", Printable(MemoryPool(pool)), page);
    for (const ReportAdvice& advice : fragmentation.advice) {
      const std::string setting = advice.setting.empty() ? "" : advice.setting + " ";
      Row("advice", Printable(setting + advice.text), page);
    }
    if (device.unattributed_bytes != 0) {
      Row("unattributed",
          BytesText(device.unattributed_bytes) + ": the CUDA context, other processes, libraries that were not traced",
          page);
    }
    if (!device.only_cupti.empty()) Row("only CUPTI saw", OnlyCuptiText(device), page);
    WriteChart(report, device.index, page);
    WritePeakLines(report, device.index, top, page);
    WriteBesideFramework(report, places, device, page);
    WriteWithoutSeveral(report, device, page);
    WriteLateFrees(report, places, device, page);
  }
  WriteReleases(report, top, page);
  WriteCards(report, top, page);
  WriteHost(report, page);
  if (PeakLinesOf(report, std::nullopt) == nullptr) return;
  page->Section("Pinned host memory");
  WriteChart(report, std::nullopt, page);
  WritePeakLines(report, std::nullopt, top, page);
}

void WriteDevicesInShort(const Report& report, size_t most, Page* page) {
  for (size_t i = 0; i < report.devices.size() && i < most; ++i) {
    const ReportDevice& device = report.devices[i];
    std::string line = absl::StrCat(Title(device), ": peak ", BytesText(device.peak.live), " live");
    if (device.peak.reserved != device.peak.live)
      absl::StrAppend(&line, " of ", BytesText(device.peak.reserved), " reserved");
    if (device.peak.step) absl::StrAppend(&line, " at step ", *device.peak.step);
    page->Words(absl::StrCat(line, ", ", BytesText(device.last_step.value_or(device.end).live),
                             device.last_step ? " after the last step" : " at the end"),
                0);
  }
  if (report.devices.size() > most) page->Line(absl::StrCat("and ", report.devices.size() - most, " more devices"));
  WriteHostInShort(report, page);
}

}  // namespace vramtrack
