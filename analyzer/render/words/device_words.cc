// SPDX-License-Identifier: Apache-2.0
#include "analyzer/render/words/device_words.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "analyzer/base/display_text.h"
#include "analyzer/base/quantity.h"
#include "analyzer/model/answer.h"
#include "analyzer/model/frame_text.h"
#include "analyzer/model/notable.h"
#include "analyzer/render/words/answer_words.h"

namespace vramtrack {
namespace {

// What cudaMemGetInfo reports as used includes the host's part.
std::string SharedWithHost(const ReportDevice& device) {
  return absl::StrCat("shared with the host (integrated device): host and pinned memory take from the same ",
                      device.total_bytes != 0 ? BytesText(device.total_bytes) : "memory",
                      device.unattributed_bytes != 0 ? ", and are among the unattributed bytes" : "");
}

std::string LiveAndReserved(const ReportMoment& moment) {
  const bool same = moment.reserved == moment.live;
  return absl::StrCat(BytesText(moment.live), " live", same ? "" : ", ",
                      same ? "" : BytesText(moment.reserved) + " reserved");
}

std::string Moment(const ReportDevice& device, const ReportMoment& moment) {
  std::string text = LiveAndReserved(moment);
  if (moment.device_used != 0 && moment.device_used != moment.reserved) {
    absl::StrAppend(&text, ", ", BytesText(moment.device_used), " used on the device",
                    device.asked_free_memory ? "" : ", excluding the CUDA context");
  }
  if (moment.step) absl::StrAppend(&text, ", at step ", *moment.step);
  return text;
}

// `known`: whether the headline says it already, or it has come about.
std::string WhenFull(const ReportGrowth& growth, bool known) {
  if (known) return "";
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
std::vector<std::string> GrowthTexts(const ReportDevice& device, bool ran_out) {
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
                      device.asked_free_memory ? "" : ", excluding the CUDA context,", " = ",
                      absl::StrJoin(parts, " + "));
}

std::string OnlyCuptiText(const ReportDevice& device) {
  std::vector<std::string> parts;
  for (const ReportOnlyCupti& only : device.only_cupti) {
    parts.push_back(absl::StrCat(only.library.empty() ? "an unknown library" : Printable(only.library), ": ",
                                 BytesText(only.at_peak), " at the peak, ", BytesText(only.at_end), " at the end"));
  }
  return absl::StrJoin(parts, "; ");
}

std::string PeakCategories(const Report& report, const ReportDevice& device) {
  uint64_t leaked = 0;
  for (const ReportSite& site : report.sites) {
    if (IsJustLeaked(site) && site.device == device.index) leaked += site.bytes_at_peak;
  }
  std::vector<std::pair<std::string, uint64_t>> categories;
  for (const ReportPeakCategory& category : device.peak_set.categories) {
    categories.emplace_back(category.name, category.bytes);
  }
  return CategoriesText(std::move(categories), leaked);
}

std::string PartsText(const std::vector<ReportHeld::Part>& parts, size_t most) {
  std::vector<std::string> texts;
  for (size_t i = 0; i < parts.size() && i < most; ++i) {
    texts.push_back(absl::StrCat(Printable(parts[i].name), " ", BytesText(parts[i].bytes)));
  }
  if (parts.size() > most) texts.push_back(absl::StrCat(parts.size() - most, " more"));
  return absl::StrJoin(texts, ", ");
}

std::string HeldText(const ReportHeld& held, CategorySource source) {
  std::vector<std::string> texts;
  for (const ReportHeld::Category& category : held.categories) {
    if (category.source == source)
      texts.push_back(absl::StrCat(absl::StrReplaceAll(category.name, {{"_", " "}}), " ", BytesText(category.bytes)));
  }
  return absl::StrJoin(texts, ", ");
}

std::vector<std::string> HeldTexts(const ReportHeld& held) {
  constexpr size_t kMostParts = 4;
  std::vector<std::string> rows;
  const std::string when = held.step ? absl::StrCat("step ", *held.step) : FormatSeconds(held.seconds);
  if (const std::string seen = HeldText(held, CategorySource::kWalk); !seen.empty()) {
    rows.push_back(absl::StrCat("at ", when, ", by name: ", seen, held.complete ? "" : " (the walk stopped early)"));
  }
  if (const std::string inferred = HeldText(held, CategorySource::kInferred); !inferred.empty()) {
    rows.push_back(absl::StrCat("not found by the walk, inferred from call stacks: ", inferred));
  }
  if (!held.saved.empty()) rows.push_back("saved for backward by " + PartsText(held.saved, kMostParts));
  if (!held.shapes.empty()) rows.push_back("largest shapes: " + PartsText(held.shapes, kMostParts));
  if (!held.modules.empty()) rows.push_back("largest modules: " + PartsText(held.modules, kMostParts));
  return rows;
}

// How the peak of a step follows from its value.
std::string ValueFitText(const ReportValueFit& fit) {
  const ReportValueFit::Line& line = *fit.line;
  const std::string interval = FormatByteInterval(line.ci_low, line.ci_high);
  std::string text = absl::StrCat(
      "a step peaks at ", FormatByteCount(line.fixed_bytes), " + ", FormatByteCount(line.bytes_per_unit), " per unit",
      interval.empty() ? "" : absl::StrCat(" (", interval, ")"), " of the step's value. That explains ",
      FormatPercent(line.explained), " of the differences between ", FormatCount(fit.steps), " steps with values from ",
      FormatAbout(fit.least_value), " to ", FormatAbout(fit.most_value), ".");
  if (line.bend_value) {
    absl::StrAppend(&text, " Steps with values below ", FormatAbout(*line.bend_value), " peak at ",
                    FormatByteCount(line.floor_bytes.value_or(0)), ", whatever their value.");
  }
  if (line.largest_value) {
    absl::StrAppend(&text, " If larger values follow this line, the device has room for values up to ",
                    FormatAbout(*line.largest_value),
                    *line.largest_value >= ReportValueFit::kFarthest * fit.most_value ? " at least." : ".");
  }
  return text;
}

// How much memory to leave free.
std::string SuggestedLimitText(const ReportDevice& device) {
  const ReportSuggestedLimit& limit = *device.suggested_limit;
  const std::pair<uint64_t, const char*> parts[] = {{limit.others, "the CUDA context and other libraries or processes"},
                                                    {limit.fragmentation, "fragmentation"},
                                                    {limit.growth, "as much growth again"}};
  std::string text = absl::StrCat(BytesText(limit.max_memory), " of ", BytesText(device.total_bytes), "; leave ",
                                  BytesText(limit.headroom), " free: ", BytesText(limit.transient),
                                  " that a step takes above the ", BytesText(limit.kept), " that it keeps");
  for (const auto& [bytes, name] : parts) {
    if (bytes > 0) absl::StrAppend(&text, ", ", BytesText(bytes), " for ", name);
  }
  return absl::StrCat(text, " (", FormatCount(limit.steps), " steps)");
}

// What keeps segments that are mostly free; `all`: what is pinned in all.
void AddPins(const std::vector<ReportPin>& pins, uint64_t all, const char* which, WordRows* rows) {
  constexpr size_t kMostPins = 3;
  const size_t notable = std::min(NotablePins(pins, all), kMostPins);
  for (size_t i = 0; i < notable; ++i) {
    rows->emplace_back("", absl::StrCat(BytesText(pins[i].bytes), " free in ", pins[i].segments, which,
                                        pins[i].segments == 1 ? " segment pinned by " : " segments pinned by ",
                                        StackPlace(pins[i].stack)));
  }
}

// The first of `texts` with the label, the others below it.
WordRows RowsOf(const char* label, const std::vector<std::string>& texts) {
  WordRows rows;
  for (const std::string& text : texts) rows.emplace_back(rows.empty() ? label : "", text);
  return rows;
}

std::string CardProcess(const ReportCard::Process& process) {
  const std::string began =
      process.began_s > 0 ? absl::StrCat("started ", FormatSeconds(process.began_s), " later") : "started first";
  return absl::StrCat(ProcessName(process.rank, process.pid), ": ", BytesText(process.at_most), "; peak ",
                      BytesText(process.peak), ", ", BytesText(process.last), " at its end; ", began);
}

// Whether it is worth looking for the line in the host's memory: a simulated device is kept there, and what leaks on a
// device has an object in it for each block.
bool NeedsHostProfiler(const Report& report) {
  if (AnswerOf(report) == Answer::kLeak) return false;
  return std::none_of(report.devices.begin(), report.devices.end(),
                      [](const ReportDevice& device) { return IsSimulated(device); });
}

std::string HostGrowth(const Report& report) {
  const ReportGrowth& growth = *report.host->resident.growth;
  const std::string rate = RateWithInterval(growth);
  if (!report.host->resident.grows()) {
    return absl::StrCat("changes by ", rate, ", no clear growth", growth.refused.empty() ? "" : ": " + growth.refused);
  }
  return absl::StrCat(
      "resident memory grows by ", rate,
      NeedsHostProfiler(report) ? "; a profiler of host memory (memray, heaptrack) finds the line" : "");
}

}  // namespace

std::string DeviceTitle(const ReportDevice& device) {
  std::string title = absl::StrCat("Device ", device.index);
  if (!device.name.empty()) absl::StrAppend(&title, ": ", Printable(device.name));
  if (device.total_bytes != 0) absl::StrAppend(&title, ", ", BytesText(device.total_bytes));
  if (device.processes > 1) {
    absl::StrAppend(&title, ", of ", ProcessName(device.rank, device.pid));
  }
  return title;
}

std::string PeakText(const ReportDevice& device) {
  const std::string at = device.peak.step ? absl::StrCat(", at step ", *device.peak.step) : "";
  return absl::StrCat("peak ", LiveAndReserved(device.peak), at);
}

WordRows MemoryRows(const Report& report, const ReportDevice& device) {
  WordRows rows;
  if (device.integrated) rows.emplace_back("memory", SharedWithHost(device));
  rows.emplace_back("peak", Moment(device, device.peak));
  if (const std::string categories = PeakCategories(report, device); !categories.empty())
    rows.emplace_back("at the peak", categories);
  rows.emplace_back("end", Moment(device, device.LastMoment()));
  return rows;
}

WordRows LedgerRows(const Report& /*report*/, const ReportDevice& device) {
  if (!device.peak.framework) return {};
  return {{"ledger", Ledger(device)}};
}

WordRows GrowthRows(const Report& report, const ReportDevice& device) {
  if (!device.growth) return {};
  return RowsOf("growth", GrowthTexts(device, HasRunOut(report, device.index)));
}

WordRows HeldRows(const Report& /*report*/, const ReportDevice& device) {
  return device.held ? RowsOf("held", HeldTexts(*device.held)) : WordRows();
}

WordRows ValueRows(const Report& /*report*/, const ReportDevice& device) {
  if (!device.by_value || !device.by_value->line) return {};
  return {{"by step value", Printable(ValueFitText(*device.by_value))}};
}

WordRows LimitRows(const Report& /*report*/, const ReportDevice& device) {
  if (!device.suggested_limit || !device.suggested_limit->refused.empty()) return {};
  return {{"max_memory", Printable(SuggestedLimitText(device))}};
}

WordRows FragmentationRows(const Report& /*report*/, const ReportDevice& device) {
  WordRows rows;
  const ReportFragmentation& fragmentation = device.fragmentation;
  if (fragmentation.reserved != 0) rows.emplace_back("fragmentation", Fragmentation(fragmentation));
  if (fragmentation.upper_bound != 0 && fragmentation.upper_bound < fragmentation.reserved) {
    rows.emplace_back("", absl::StrCat("minimum possible ", BytesText(fragmentation.lower_bound),
                                       "; best allocator found ", BytesText(fragmentation.upper_bound)));
  }
  if (IsMuchPinned(fragmentation)) {
    const ReportSegmentUse& use = *fragmentation.at_reserved_peak;
    rows.emplace_back("pinned", absl::StrCat("at the peak of reserved bytes (", BytesText(use.reserved),
                                             use.step ? absl::StrCat(", step ", *use.step) : "", "), ",
                                             BytesText(use.free_pinned), " were free but pinned by live blocks:"));
    AddPins(fragmentation.pins, use.free_pinned, "", &rows);
  }
  if (fragmentation.growth) {
    rows.emplace_back("reserve grows", Printable(fragmentation.growth->explanation));
    AddPins(fragmentation.growth->pins, fragmentation.growth->free_pinned, " new", &rows);
  }
  for (const ReportMemoryPool& pool : device.memory_pools) rows.emplace_back("pool", Printable(MemoryPool(pool)));
  return rows;
}

std::string AdviceText(const ReportAdvice& advice) {
  return Printable(absl::StrCat(advice.setting, advice.setting.empty() ? "" : " ", advice.text));
}

WordRows UntracedRows(const Report& /*report*/, const ReportDevice& device) {
  WordRows rows;
  if (device.unattributed_bytes != 0) {
    uint64_t in_pools = 0;
    for (const ReportMemoryPool& pool : device.memory_pools) in_pools += pool.free_at_end;
    in_pools = std::min(in_pools, device.unattributed_bytes);
    rows.emplace_back("unattributed",
                      absl::StrCat(BytesText(device.unattributed_bytes), ": ",
                                   in_pools > 0 ? absl::StrCat(BytesText(in_pools), " that CUDA's pools keep, ") : "",
                                   "the CUDA context, other processes, libraries that were not traced"));
  }
  if (!device.only_cupti.empty()) rows.emplace_back("only CUPTI saw", OnlyCuptiText(device));
  return rows;
}

std::string CardTitle(const ReportCard& card) {
  return absl::StrCat("A card that ", card.processes.size(),
                      " processes share: ", Printable(card.name.empty() ? card.uuid : card.name));
}

WordRows CardRows(const ReportCard& card, size_t most) {
  WordRows rows;
  const std::string of = card.total_bytes > 0 ? " of " + BytesText(card.total_bytes) : "";
  rows.emplace_back("peak", absl::StrCat(BytesText(card.most), of, ", at ", FormatSeconds(card.most_s)));
  for (size_t i = 0; i < card.processes.size() && i < most; ++i) {
    rows.emplace_back(i == 0 ? "of that" : "", CardProcess(card.processes[i]));
  }
  if (card.processes.size() > most) rows.emplace_back("", absl::StrCat("and ", card.processes.size() - most, " more"));
  if (card.others.value_or(0) > 0) {
    rows.emplace_back("others", BytesText(*card.others) + ": CUDA contexts, and processes that were not traced");
  }
  return rows;
}

namespace {

// The size of a context. Where the job did not ask its device for free memory, the size on another device stands for
// it.
std::string ContextSize(const ReportContext& context, const std::optional<uint64_t>& elsewhere) {
  if (context.at_most_bytes) return absl::StrCat("at most ", BytesText(*context.at_most_bytes));
  return elsewhere ? absl::StrCat("about ", BytesText(*elsewhere), ", inferred from others of this run") : "";
}

std::string ContextText(const ReportContext& context, const std::optional<uint64_t>& elsewhere) {
  const size_t naming = NamingFrame(context.frames, 0);
  std::string text = absl::StrCat(
      context.made == 1 ? "a context" : absl::StrCat(FormatCount(context.made), " contexts"), " on device ",
      context.device, " at ", FramePlace(naming < context.frames.size() ? &context.frames[naming] : nullptr));
  if (!context.thread.empty()) absl::StrAppend(&text, ", thread ", Printable(context.thread));
  if (context.step) absl::StrAppend(&text, ", step ", *context.step);
  const std::string size = ContextSize(context, elsewhere);
  if (!size.empty()) absl::StrAppend(&text, ": ", size);
  if (context.live == 0) {
    absl::StrAppend(&text, "; destroyed since");
  } else if (context.live < context.made) {
    absl::StrAppend(&text, "; ", FormatCount(context.made - context.live), " destroyed since");
  }
  if (context.idle) absl::StrAppend(&text, "; hardly any other memory of the process is there");
  return text;
}

}  // namespace

WordRows ContextRows(const Report& report, bool all, size_t most) {
  uint64_t made = 0;
  std::optional<uint64_t> elsewhere;
  for (const ReportProcess& process : report.processes) {
    for (const ReportContext& context : process.contexts) {
      made += context.made;
      if (context.at_most_bytes) elsewhere = std::min(elsewhere.value_or(UINT64_MAX), *context.at_most_bytes);
    }
  }
  WordRows rows;
  if (made < 2) return rows;
  size_t left_out = 0;
  for (const ReportProcess& process : report.processes) {
    bool named = false;
    for (const ReportContext& context : process.contexts) {
      if (!all && !context.idle) continue;
      if (rows.size() == most) {
        ++left_out;
        continue;
      }
      rows.emplace_back(named ? "" : ProcessName(process.rank, process.pid), ContextText(context, elsewhere));
      named = true;
    }
  }
  if (left_out > 0) rows.emplace_back("", absl::StrCat("and ", FormatCount(left_out), " more"));
  return rows;
}

std::string HostTitle(const Report& report) {
  const ReportHost& host = *report.host;
  const bool several = report.processes.size() > 1;
  return several ? absl::StrCat("Host memory of ", ProcessName(host.rank, host.pid)) : "Host memory";
}

WordRows HostRows(const Report& report) {
  const ReportHost& host = *report.host;
  WordRows rows;
  std::string resident =
      absl::StrCat(BytesText(host.resident.last), " at the end, ", BytesText(host.resident.first), " at first");
  if (host.shared > 0) absl::StrAppend(&resident, "; ", BytesText(host.shared), " of it is files or shared memory");
  rows.emplace_back("resident", resident);
  if (host.resident.growth) rows.emplace_back("growth", HostGrowth(report));
  if (host.pinned.peak == 0) return rows;
  std::string pinned = absl::StrCat(BytesText(host.pinned.last), " at the end, peak ", BytesText(host.pinned.peak));
  if (host.pinned.grows()) absl::StrAppend(&pinned, "; grows by ", RateWithInterval(*host.pinned.growth));
  rows.emplace_back("pinned", pinned);
  return rows;
}

}  // namespace vramtrack
