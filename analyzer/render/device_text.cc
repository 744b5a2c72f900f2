// SPDX-License-Identifier: Apache-2.0
#include "analyzer/render/device_text.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "analyzer/render/answer.h"
#include "analyzer/render/category_text.h"
#include "analyzer/render/chart.h"
#include "analyzer/render/display_text.h"
#include "analyzer/render/frame_text.h"
#include "analyzer/render/quantity.h"
#include "analyzer/render/site_places.h"

namespace vramtrack {
namespace {

constexpr int kIndent = 2;
constexpr int kLabelColumns = 17;  // indentation included
constexpr int kChartRows = 4;
constexpr int kNarrowestFunction = 12;
constexpr uint64_t kLeastPinnedBytes = 1 << 20;
constexpr uint64_t kUnlimitedThreshold = uint64_t{1} << 60;  // programs set the largest number there is

std::string Bytes(uint64_t bytes) { return FormatByteCount(static_cast<double>(bytes)); }

std::string Title(const ReportDevice& device) {
  std::string title = absl::StrCat("Device ", device.index);
  if (!device.name.empty()) absl::StrAppend(&title, ": ", Printable(device.name));
  if (device.total_bytes != 0) absl::StrAppend(&title, ", ", Bytes(device.total_bytes));
  return title;
}

std::string Moment(const ReportMoment& moment) {
  std::string text = Bytes(moment.live) + " live";
  if (moment.reserved != moment.live) absl::StrAppend(&text, ", ", Bytes(moment.reserved), " reserved");
  if (moment.device_used != 0 && moment.device_used != moment.reserved) {
    absl::StrAppend(&text, ", ", Bytes(moment.device_used), " used on the device");
  }
  if (moment.step) absl::StrAppend(&text, ", at step ", *moment.step);
  return text;
}

// Beside a framework's blocks: what the driver gave to somebody else, which is no part of the live bytes.
bool IsBesideFramework(const Report& report, const ReportSite& site) {
  if (site.level != "driver" || !site.device) return false;
  for (const ReportDevice& device : report.devices) {
    if (device.index == *site.device) return !device.other_owners.empty();
  }
  return false;
}

// "  (optimizer state)", where the stack tells.
std::string Purpose(const Report& report, const ReportSite& site) {
  if (IsBesideFramework(report, site)) return absl::StrCat("  (of ", Printable(site.owner), ")");
  if (site.category == "optimizer_state") return "  (optimizer state)";
  for (const char* told :
       {"parameters", "gradients", "activations", "temporary", "workspace", "communication", "input"}) {
    if (site.category == told) return absl::StrCat("  (", told, ")");
  }
  return "";
}

std::string WhenFull(const ReportGrowth& growth) {
  if (!growth.refused.empty()) return "; when it is full cannot be told: " + Printable(growth.refused);
  std::string full = growth.steps_to_oom ? FormatTimeToFull(*growth.steps_to_oom) : "";
  if (full.empty()) return "";
  if (growth.steps_to_oom_low < growth.steps_to_oom_high && growth.steps_to_oom_high >= 1) {
    const std::string low = FormatAbout(std::floor(growth.steps_to_oom_low));
    const std::string high = FormatAbout(std::ceil(growth.steps_to_oom_high));
    if (low != high) absl::StrAppend(&full, " (", low, " to ", high, ")");
  }
  if (growth.seconds_to_oom && *growth.steps_to_oom >= 1) {
    absl::StrAppend(&full, ", ", FormatSeconds(*growth.seconds_to_oom));
  }
  return ", " + full;
}

// Of what is live; of the other figures what they add to that.
std::string Growth(const ReportDevice& device) {
  const ReportGrowth& live = *device.growth;
  std::string text = absl::StrCat(FormatByteCount(live.bytes_per_step), " per step (95 % CI ",
                                  FormatByteRange(live.ci_low, live.ci_high), ")", WhenFull(live));
  if (!device.growth_of) return text;
  const std::pair<const char*, const ReportGrowth*> others[] = {{"reserved", &device.growth_of->reserved},
                                                                {"used", &device.growth_of->device_used}};
  std::vector<std::string> said;
  for (const auto& [name, growth] : others) {
    std::string full = !live.refused.empty() && growth->refused == live.refused ? "" : WhenFull(*growth);
    const std::string rate = FormatByteCount(growth->bytes_per_step);
    if (growth->ci_low <= 0 || said == std::vector<std::string>{rate, full}) continue;
    said = {rate, full};
    absl::StrAppend(&text, "; ", name, " ", rate, " per step", full);
  }
  return text;
}

std::string Fragmentation(const ReportFragmentation& fragmentation) {
  std::vector<std::string> parts = {Bytes(fragmentation.live) + " live"};
  auto add = [&](uint64_t bytes, const char* name) {
    if (bytes != 0) parts.push_back(absl::StrCat(Bytes(bytes), " ", name));
  };
  add(fragmentation.rounding, "rounding");
  add(fragmentation.free_releasable, "free and releasable");
  add(fragmentation.free_pinned, "free but pinned");
  add(fragmentation.deferred, "waiting to be freed");
  if (parts.size() == 1) return absl::StrCat("none: the ", Bytes(fragmentation.reserved), " reserved are all live");
  return absl::StrCat(Bytes(fragmentation.reserved), " reserved = ", absl::StrJoin(parts, " + "));
}

std::string MemoryPool(const ReportMemoryPool& pool) {
  std::string text = absl::StrCat(pool.pool, ": ", Bytes(pool.peak_live), " live at its peak, in ",
                                  Bytes(pool.upper_bound), " of pages");
  if (pool.free_releasable > 0) {
    absl::StrAppend(&text, "; it may hold ", Bytes(pool.free_releasable), " that is free");
    if (pool.free_releasable_at_least > 0) {
      absl::StrAppend(&text, ", ", Bytes(pool.free_releasable_at_least), " at least");
    }
    if (pool.step) absl::StrAppend(&text, ", at step ", *pool.step);
  }
  if (!pool.release_threshold) {
    absl::StrAppend(&text, "; which pools have a release threshold is not known");
  } else if (*pool.release_threshold == 0) {
    absl::StrAppend(&text, "; no release threshold: gives back what is free whenever the job waits");
  } else {
    absl::StrAppend(&text, "; release threshold ",
                    *pool.release_threshold >= kUnlimitedThreshold ? "unlimited" : Bytes(*pool.release_threshold));
  }
  return text;
}

// What adds up to the memory that is used on the device.
std::string Ledger(const ReportDevice& device) {
  const ReportFrameworkShare& share = *device.peak.framework;
  std::vector<std::string> parts = {Bytes(device.peak.live) + " live", Bytes(share.cached) + " cached"};
  constexpr size_t kMostOwners = 4;
  uint64_t others = share.others;
  for (size_t i = 0; i < device.other_owners.size() && i < kMostOwners; ++i) {
    const auto& [owner, bytes] = device.other_owners[i];
    if (bytes > others) break;
    parts.push_back(absl::StrCat(Bytes(bytes), " of ", owner.empty() ? "unknown owners" : Printable(owner)));
    others -= bytes;
  }
  if (others != 0) parts.push_back(Bytes(others) + " of others");
  if (share.overhead != 0) parts.push_back(Bytes(share.overhead) + " of the driver's granularity");
  if (share.unattributed != 0) parts.push_back(Bytes(share.unattributed) + " unattributed");
  return absl::StrCat(Bytes(device.peak.device_used), " used at the peak = ", absl::StrJoin(parts, " + "));
}

std::string PeakCategories(const ReportDevice& device) {
  std::vector<std::pair<std::string, uint64_t>> categories;
  for (const ReportPeakCategory& category : device.peak_set.categories) {
    categories.emplace_back(category.name, category.bytes);
  }
  return CategoriesText(categories);
}

void Row(const std::string& label, const std::string& text, Page* page) {
  page->Words(text, kLabelColumns, Paint::kPlain, std::string(kIndent, ' ') + label);
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
  page->Line(timeline->unit == "steps" ? "live bytes, step by step" : "live bytes over time", kIndent);
  TextStyle narrower = page->style();
  narrower.columns -= kIndent;
  for (const std::string& line : Chart(narrower, *timeline, timeline->live, kChartRows)) page->Line(line, kIndent);
}

// What a reader of the table should not overlook.
std::string Note(const ReportSite& site) { return IsLeak(site) ? "leak" : ""; }

// Scopes are not what tells two calls apart, but for PyTorch's structured kernels, whose functions are all "meta" or
// "impl".
std::string WithoutScope(const std::string& function) {
  if (function.rfind("structured_", 0) == 0) return function;
  return function.substr(function.rfind(':') + 1);
}

// With its parts, if it leads a leak that has some.
uint64_t AtPeak(const ReportSite& site) { return site.parts > 0 ? site.group->bytes_at_peak : site.bytes_at_peak; }

void WriteLargestSites(const Report& report, const SitePlaces& places, std::optional<uint32_t> device, size_t top,
                       Page* page) {
  std::vector<const ReportSite*> sites;
  for (const ReportSite& site : report.sites) {
    // What lies in a segment is listed, not the segment; a leak of many sites is one row.
    if (site.device != device || site.category == "segment" || !site.part_of.empty()) continue;
    if (AtPeak(site) > 0) sites.push_back(&site);
  }
  if (sites.empty()) return;
  std::stable_sort(sites.begin(), sites.end(),
                   [](const ReportSite* a, const ReportSite* b) { return AtPeak(*a) > AtPeak(*b); });
  const TextStyle& style = page->style();
  constexpr int kBytes = 11, kWithout = 17, kNote = 6;
  page->Blank();
  page->Line(Painted(style, Paint::kDim,
                     absl::StrCat(PadLeft("at the peak", kBytes), PadLeft("peak without it", kWithout), "  ",
                                  PadRight("", kNote), "site")),
             kIndent);
  int left = style.columns - kIndent - kBytes - kWithout - 2 - kNote;
  for (size_t i = 0; i < sites.size() && i < top; ++i) {
    const ReportSite& site = *sites[i];
    const ReportFrame* frame = places.Of(site);
    std::string place = frame == nullptr ? "(no stack recorded)" : CutBeginning(FrameLocation(*frame), left);
    int behind = left - DisplayWidth(place);
    if (frame != nullptr && behind >= kNarrowestFunction + 2) {
      absl::StrAppend(&place, CutEnd(FunctionBehindLocation(*frame), behind));
    }
    // What does not fit is left out; what the memory is for goes before how it was asked for.
    std::string purpose =
        site.parts > 0 ? absl::StrCat("  (", FormatCount(site.parts + 1), " sites)") : Purpose(report, site);
    if (DisplayWidth(place) + DisplayWidth(purpose) > left) purpose.clear();
    const ReportFrame* within = site.parts > 0 ? nullptr : places.Within(site);
    std::string via = within == nullptr ? "" : FrameFunction(*within);
    behind = left - DisplayWidth(place) - DisplayWidth(purpose);
    via = via.empty() || behind < kNarrowestFunction ? "" : CutEnd(" via " + WithoutScope(via), behind);
    if (!via.empty() || !purpose.empty()) place += Painted(style, Paint::kDim, via + purpose);
    const uint64_t peak_without = site.parts > 0 ? site.group->peak_without : site.peak_without_site;
    const std::string without = IsBesideFramework(report, site) ? "" : Bytes(peak_without);
    page->Line(absl::StrCat(PadLeft(Bytes(AtPeak(site)), kBytes), PadLeft(without, kWithout), "  ",
                            Painted(style, Paint::kAlarm, PadRight(Note(site), kNote)), place),
               kIndent);
  }
  if (sites.size() > top) {
    page->Line(
        absl::StrCat(PadLeft("", kBytes + kWithout + 2 + kNote), "and ", FormatCount(sites.size() - top), " more"),
        kIndent);
  }
}

// What the three largest sites come to together: what they are shows in the table, unless it has several in one row.
void WriteWithoutSeveral(const Report& report, const ReportDevice& device, Page* page) {
  if (device.peak_set.without.size() < 2) return;
  for (const ReportSite& site : report.sites) {
    if (site.device == device.index && site.parts > 0) return;
  }
  std::vector<std::string> parts;
  for (size_t i = 1; i < device.peak_set.without.size(); ++i) {
    parts.push_back(
        absl::StrCat(Bytes(device.peak_set.without[i].peak), " without the ", i == 1 ? "two" : "three", " largest"));
  }
  page->Words(absl::StrCat("the peak would be ", absl::StrJoin(parts, ", ")), kIndent);
}

void WritePatterns(const Report& report, const SitePlaces& places, const ReportDevice& device, Page* page) {
  if (device.patterns.empty()) return;
  page->Blank();
  page->Line("what need not be there, as far as allocations tell:", kIndent);
  for (const ReportPattern& pattern : device.patterns) {
    std::string text = pattern.peak_saved == 0 ? absl::StrReplaceAll(pattern.pattern, {{"_", " "}})
                                               : absl::StrCat(absl::StrReplaceAll(pattern.pattern, {{"_", " "}}),
                                                              ", saves ", Bytes(pattern.peak_saved), " of the peak");
    absl::StrAppend(&text, ": ", Printable(pattern.explanation));
    const ReportSite* site = FindSite(report, pattern.site);
    const ReportFrame* frame = site == nullptr ? nullptr : places.Of(*site);
    if (frame != nullptr) {
      absl::StrAppend(&text, "; ", FrameLocation(*frame), FunctionBehindLocation(*frame));
      if (pattern.sites > 1) absl::StrAppend(&text, " and ", FormatCount(pattern.sites - 1), " more");
    }
    page->Words(text, kIndent + 2, Paint::kPlain, std::string(kIndent, ' ') + "-");
  }
}

// What empty_cache() and the like returned.
void WriteReleases(const Report& report, size_t top, Page* page) {
  if (report.releases.empty()) return;
  page->Section("Given back to the driver");
  for (size_t i = 0; i < report.releases.size() && i < top; ++i) {
    const ReportRelease& release = report.releases[i];
    std::string text =
        absl::StrCat(release.calls == 1 ? "1 call" : FormatCount(release.calls) + " calls", ", ", Bytes(release.bytes),
                     " in ", FormatCount(release.segments), release.segments == 1 ? " segment" : " segments");
    if (release.least != release.most) {
      absl::StrAppend(&text, " (", Bytes(release.least), " to ", Bytes(release.most), " each)");
    }
    const size_t frame = NamingFrame(release.stack, 0);
    if (frame < release.stack.size()) {
      absl::StrAppend(&text, "  ", FrameLocation(release.stack[frame]), FunctionBehindLocation(release.stack[frame]));
    }
    page->Words(text, kIndent);
  }
}

// Whose objects keep segments that are mostly free.
// `all`: what is pinned in all.
void WritePins(const std::vector<ReportPin>& pins, uint64_t all, const char* label, const char* which, Page* page) {
  constexpr size_t kMostPins = 3;
  for (size_t i = 0; i < pins.size() && i < kMostPins; ++i) {
    const ReportPin& pin = pins[i];
    // What is less than a twentieth of what is pinned does not matter.
    if (pin.bytes < all / 20 || pin.bytes < kLeastPinnedBytes) break;
    std::string text = absl::StrCat(Bytes(pin.bytes), " free in ", pin.segments, which,
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

}  // namespace

void WriteDevices(const Report& report, size_t top, Page* page) {
  SitePlaces places(report);
  for (const ReportDevice& device : report.devices) {
    page->Section(Title(device));
    Row("peak", Moment(device.peak), page);
    if (const std::string categories = PeakCategories(device); !categories.empty())
      Row("at the peak", categories, page);
    Row("end", Moment(device.end), page);
    if (device.peak.framework) Row("ledger", Ledger(device), page);
    if (device.growth) Row("growth", Growth(device), page);
    const ReportFragmentation& fragmentation = device.fragmentation;
    if (fragmentation.reserved != 0) Row("fragmentation", Fragmentation(fragmentation), page);
    if (fragmentation.upper_bound != 0 && fragmentation.upper_bound < fragmentation.reserved) {
      Row("",
          absl::StrCat("the same job needs ", Bytes(fragmentation.lower_bound), " at least, and fits into ",
                       Bytes(fragmentation.upper_bound)),
          page);
    }
    if (fragmentation.at_reserved_peak) {
      WritePins(fragmentation.pins, fragmentation.at_reserved_peak->free_pinned, "pinned", "", page);
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
      std::string text = Bytes(device.unattributed_bytes) + ": the CUDA context, libraries that were not traced";
      if (!device.unattributed_owners.empty()) absl::StrAppend(&text, "; by CUPTI:");
      const char* before = " ";
      for (const auto& [owner, bytes] : device.unattributed_owners) {
        absl::StrAppend(&text, before, Bytes(bytes), " of ", owner.empty() ? "it does not say whom" : Printable(owner));
        before = ", ";
      }
      Row("unattributed", text, page);
    }
    WriteChart(report, device.index, page);
    WriteLargestSites(report, places, device.index, top, page);
    WriteWithoutSeveral(report, device, page);
    WritePatterns(report, places, device, page);
  }
  WriteReleases(report, top, page);
  bool host = std::any_of(report.sites.begin(), report.sites.end(),
                          [](const ReportSite& site) { return !site.device && site.bytes_at_peak > 0; });
  if (!host) return;
  page->Section("Pinned host memory");
  WriteChart(report, std::nullopt, page);
  WriteLargestSites(report, places, std::nullopt, top, page);
}

void WriteDevicesInShort(const Report& report, size_t most, Page* page) {
  for (size_t i = 0; i < report.devices.size() && i < most; ++i) {
    const ReportDevice& device = report.devices[i];
    std::string line = absl::StrCat(Title(device), ": peak ", Bytes(device.peak.live), " live");
    if (device.peak.reserved != device.peak.live)
      absl::StrAppend(&line, " of ", Bytes(device.peak.reserved), " reserved");
    if (device.peak.step) absl::StrAppend(&line, " at step ", *device.peak.step);
    page->Words(absl::StrCat(line, ", ", Bytes(device.end.live), " at the end"), 0);
  }
  if (report.devices.size() > most) page->Line(absl::StrCat("and ", report.devices.size() - most, " more devices"));
}

}  // namespace vramtrack
