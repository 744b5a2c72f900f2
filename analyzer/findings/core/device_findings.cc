// SPDX-License-Identifier: Apache-2.0
#include "analyzer/findings/core/device_findings.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "analyzer/peaks/peak_window.h"
#include "analyzer/torch_allocator/settings.h"

namespace vramtrack {
namespace {

// Less is not worth a line of advice.
constexpr uint64_t kMinAdvisedBytes = 16u << 20;
constexpr uint64_t kMinAdvisedShare = 20;  // a twentieth

ReportMoment DescribeMoment(const RunShape& run, const Scope& scope, const Moment& moment) {
  ReportMoment described = {ReportedStep(run, moment.step), moment.device_used, moment.usage.reserved,
                            moment.usage.live, std::nullopt};
  if (scope.segments != nullptr) {
    const FrameworkShare& share = moment.framework;
    described.framework = {share.cached,   share.releasable,   share.others,
                           share.overhead, share.unattributed, share.unplaced};
  }
  return described;
}

ReportFragmentation DescribeFragmentation(const Moment& peak, bool of_framework, const PeakWindow* window) {
  const DeviceUsage& usage = peak.usage;
  ReportFragmentation fragmentation;
  fragmentation.reserved = usage.reserved;
  fragmentation.live = usage.live;
  fragmentation.rounding = usage.rounding;
  fragmentation.free_pinned = usage.free_pinned;
  fragmentation.free_releasable = peak.framework.releasable;
  fragmentation.lower_bound = usage.live + usage.rounding;
  fragmentation.upper_bound = usage.reserved;
  if (window != nullptr) {
    // A device gives out whole pages.
    const uint64_t bytes = window->Bound(fragmentation.lower_bound);
    const uint64_t pages = (bytes + kDevicePageBytes - 1) / kDevicePageBytes * kDevicePageBytes;
    fragmentation.upper_bound = std::min(usage.reserved, pages);
  }
  const uint64_t saved = std::min(usage.free_pinned, usage.reserved - fragmentation.upper_bound);
  // What would help a framework's allocator is another matter.
  if (of_framework) return fragmentation;
  if (IsWorthAdvice(saved, usage.reserved)) {
    fragmentation.advice.push_back(
        {absl::StrCat("small allocations keep pages of 2 MiB that are mostly free: placed together (one larger "
                      "allocation cut up by the program, or cudaMallocAsync) they would save up to ",
                      saved / (1 << 20), " MiB of ", usage.reserved / (1 << 20), " MiB"),
         "", usage.reserved, usage.reserved - saved, saved});
  }
  return fragmentation;
}

}  // namespace

std::optional<int64_t> ReportedStep(const RunShape& run, uint32_t step) {
  if (run.steps == 0 || run.windows) return std::nullopt;
  if (step < run.step_numbers.size()) return static_cast<int64_t>(run.step_numbers[step]);
  if (run.step_numbers.empty()) return step;
  return static_cast<int64_t>(run.step_numbers.back() + (step - run.step_numbers.size()) + 1);
}

bool IsWorthAdvice(uint64_t saved, uint64_t reserved) {
  return saved >= kMinAdvisedBytes && saved >= reserved / kMinAdvisedShare;
}

const Scope* ScopeOfDevice(const Ledger& ledger, DeviceIndex device) {
  for (const Scope& scope : ledger.scopes()) {
    if (scope.is_device() && scope.device == device) return &scope;
  }
  return nullptr;
}

// The level that the device's figures are about.
const Scope* LeadingScope(const Ledger& ledger, DeviceIndex device) {
  const Scope* scope = ScopeOfDevice(ledger, device);
  return scope == nullptr || scope->is_leading() ? scope : &ledger.scopes()[scope->other_level];
}

std::map<DeviceIndex, uint64_t> PeakChanges(const Ledger& ledger) {
  std::map<DeviceIndex, uint64_t> changes;
  for (const Scope& scope : ledger.scopes()) {
    if (scope.is_leading() && scope.peak > 0) changes[scope.device] = scope.peak_change;
  }
  return changes;
}

LevelSeries LevelsOf(const ProcessAnalysis& analysis, const Scope& scope, DeviceFigure figure) {
  LevelSeries series;
  const LevelTimeline& levels = analysis.timeline();
  const uint64_t width = levels.bin_width();
  series.steps_per_point = static_cast<double>(width);
  const auto value = static_cast<size_t>(figure);
  const std::vector<LevelTimeline::Bin>& bins = levels.bins(scope);
  for (size_t i = 0; i < bins.size() && (i + 1) * width <= analysis.ledger().steps().step(); ++i) {
    series.low.push_back(static_cast<double>(bins[i].low[value]));
    series.high.push_back(static_cast<double>(bins[i].high[value]));
  }
  return series;
}

namespace {

// What is left of a device of `total` bytes when so many are used by this process.
uint64_t LeftBytes(uint64_t total, const OutOfMemory& failed, uint64_t used) {
  return total > failed.outside + used ? total - failed.outside - used : 0;
}

}  // namespace

std::optional<uint64_t> DeviceFreeBytes(const Ledger& ledger, const OutOfMemory& failed) {
  const uint64_t total = ledger.DeviceBytes(failed.device);
  if (total == 0) return std::nullopt;
  return LeftBytes(total, failed, failed.usage.reserved);
}

namespace {

// Of which of the allocator's pools a request is, as PyTorch has them: a small block never comes from a segment of
// large ones, nor the other way round.
void DescribePool(const OutOfMemory::Framework& framework, ReportOom* oom) {
  if (!framework.small_hole || !framework.large_hole || oom->requested == 0) return;
  const bool small = oom->requested <= torch_allocator::kSmallRequestBytes;
  oom->pool = small ? BlockSizeClass::kSmall : BlockSizeClass::kLarge;
  oom->pool_hole = small ? framework.small_hole : framework.large_hole;
  oom->segment_bytes = torch_allocator::SegmentBytes(oom->requested);
  // The allocator released what it kept where a segment has no block; the rest can serve only its own pool.
  oom->largest_free = std::max(*oom->pool_hole, oom->device_free.value_or(0) / kDevicePageBytes * kDevicePageBytes);
}

}  // namespace

ReportOom DescribeOutOfMemory(const Trace& trace, const Ledger& ledger, const RunShape& run,
                              const OutOfMemory& failed) {
  ReportOom oom;
  oom.step = ReportedStep(run, failed.step);
  oom.seconds = trace.clock().Seconds(failed.ticks);
  oom.device = failed.device.value();
  oom.requested = failed.requested;
  const TracedAllocator* const allocator = trace.definitions().AllocatorOn(oom.device);
  if (failed.framework) {
    oom.level = failed.framework->failed ? Level::kFramework : Level::kDriver;
    oom.live = failed.framework->live;
    // What it has reserved is not known, and so neither is what was free.
    if (oom.level == Level::kFramework && allocator != nullptr && allocator->by_handle) return oom;
    oom.reserved = failed.framework->reserved;
    oom.largest_hole = failed.framework->largest_hole;
  }
  const uint64_t total = ledger.DeviceBytes(failed.device);
  if (total == 0) return oom;
  const uint64_t device_free = LeftBytes(total, failed, failed.usage.reserved);
  oom.free = LeftBytes(total, failed, failed.usage.live + failed.usage.rounding);
  // Any free pages make one range of addresses; holes in pages that are in use do not.
  oom.largest_free = device_free / kDevicePageBytes * kDevicePageBytes;
  if (failed.framework) {
    oom.device_free = device_free;
    if (failed.framework->failed) {
      // Its allocator could have used what it keeps, or the device's own.
      oom.free = *oom.device_free + (*oom.reserved - std::min(*oom.live, *oom.reserved));
      oom.largest_free = std::max(*oom.largest_free, *oom.largest_hole);
      if (allocator == nullptr) DescribePool(*failed.framework, &oom);
    }
  }
  if (failed.requested > *oom.free) {
    oom.cause = OomCause::kAmount;
  } else if (failed.requested > *oom.largest_free ||
             (oom.segment_bytes && *oom.pool_hole < failed.requested && *oom.device_free < *oom.segment_bytes)) {
    oom.cause = OomCause::kContiguity;
  }
  return oom;
}

namespace {

bool Leaks(const ProcessAnalysis& analysis, DeviceIndex device) {
  const Sites& sites = analysis.ledger().sites();
  for (const SiteIndex i : sites.indices()) {
    if (sites[i].key.device != device || LevelOf(sites[i]) == Level::kHandle) continue;
    const Verdict verdict = analysis.verdicts()[i].verdict;
    if (IsLeak(verdict) && verdict != Verdict::kMinorLeak) return true;
  }
  return false;
}

std::string WhyNot(const ProcessAnalysis& analysis, const std::vector<ReportOom>& oom, const ReportDevice& device) {
  if (std::any_of(oom.begin(), oom.end(), [&](const ReportOom& one) { return one.device == device.index; })) {
    return "an allocation failed, so that it is not known how much the job needs";
  }
  if (Leaks(analysis, DeviceIndex(device.index))) return "the job leaks; no headroom is enough for long";
  if (const TracedAllocator* allocator = analysis.trace().definitions().AllocatorOn(device.index)) {
    return allocator->framework + "'s allocator takes memory in advance";
  }
  if (device.growth && device.growth->ci_low > 0 && !device.growth->refused.empty()) {
    return "live bytes grow, and it is not known for how long";
  }
  if (device.fragmentation.growth) return "fragmentation grows; no headroom is enough for long";
  // The context of an H100 takes more than half a GiB.
  if (!device.asked_free_memory) {
    return "how much the CUDA context takes is not known: the job never asked the driver for its free memory, as "
           "torch.cuda.mem_get_info() does";
  }
  return "";
}

}  // namespace

void DescribeLimit(const ProcessAnalysis& analysis, const std::vector<ReportOom>& oom, ReportDevice* device) {
  const RunShape& run = analysis.run();
  const Scope* scope = LeadingScope(analysis.ledger(), DeviceIndex(device->index));
  if (run.windows || scope == nullptr || scope->peak == 0 || device->total_bytes == 0) return;
  const Step first = run.warmup_end;
  if (run.steps < first + kMinGrowthSteps) return;

  ReportSuggestedLimit& limit = device->suggested_limit.emplace();
  limit.steps = run.steps - first;
  const bool framework = scope->segments != nullptr;
  for (Step step = first; step < run.steps; ++step) {
    limit.kept = std::max(limit.kept, framework ? scope->live_floors[step] : scope->floors[step]);
    limit.transient = std::max(limit.transient, scope->ceilings[step] - scope->floors[step]);
  }
  // Before the steps, in warm-up and after the last step, too.
  if (scope->peak > limit.kept) limit.transient = std::max(limit.transient, scope->peak - limit.kept);
  const Moment& peak = scope->peak_moment;
  limit.fragmentation = peak.usage.free_pinned;
  // The job may have asked for its free memory after the peak only.
  const uint64_t unattributed =
      framework ? peak.framework.unattributed : peak.device_used - std::min(peak.device_used, peak.usage.reserved);
  limit.others = (framework ? peak.framework.others + peak.framework.overhead : peak.usage.rounding) +
                 std::max(unattributed, device->unattributed_bytes);
  if (device->growth && device->growth->ci_low > 0) {
    limit.growth = static_cast<uint64_t>(std::ceil(device->growth->ci_high * static_cast<double>(limit.steps)));
  }
  limit.refused = WhyNot(analysis, oom, *device);
  if (!limit.refused.empty()) return;
  const uint64_t needed = limit.transient + limit.others + limit.fragmentation + limit.growth;
  const uint64_t headroom = (needed + kDevicePageBytes - 1) / kDevicePageBytes * kDevicePageBytes;
  if (headroom >= device->total_bytes) {
    limit.refused = "what a step takes and what others hold fill the device";
    return;
  }
  limit.headroom = headroom;
  limit.max_memory = device->total_bytes - headroom;
}

namespace {

class DeviceFindings final : public Collector {
 public:
  explicit DeviceFindings(const ProcessAnalysis& analysis)
      : analysis_(analysis), windows_(PeakChanges(analysis.ledger())) {}

  const char* name() const override { return "devices"; }
  // Follows the allocations that led to the peaks.
  void Prepare(Replay* detail) override { detail->observers.push_back(&windows_); }

  void Describe(const Replay& /*replay*/, ProcessFindings* findings) override {
    const Trace& trace = analysis_.trace();
    const Ledger& ledger = analysis_.ledger();
    const RunShape& run = analysis_.run();
    std::set<DeviceIndex> indices;
    for (const auto& [index, device] : trace.definitions().devices) indices.insert(DeviceIndex(index));
    for (const Scope& scope : ledger.scopes()) {
      if (scope.is_device()) indices.insert(scope.device);
    }
    for (const DeviceIndex index : indices) {
      ReportDevice device;
      device.index = index.value();
      const auto defined = trace.definitions().devices.find(index.value());
      if (defined != trace.definitions().devices.end()) {
        device.name = defined->second.name;
        device.integrated = defined->second.integrated;
      }
      device.total_bytes = ledger.DeviceBytes(index);
      if (const Scope* scope = LeadingScope(ledger, index)) {
        device.peak = DescribeMoment(run, *scope, scope->peak_moment);
        device.end = DescribeMoment(run, *scope, scope->end_moment);
        if (scope->step_moment && !run.windows) device.last_step = DescribeMoment(run, *scope, *scope->step_moment);
        const uint64_t outside = ScopeOfDevice(ledger, index)->outside;
        device.asked_free_memory = ScopeOfDevice(ledger, index)->total.has_value();
        device.unattributed_bytes = device.end.framework ? device.end.framework->unattributed : outside;
        device.fragmentation = DescribeFragmentation(
            scope->peak_moment, scope->segments != nullptr,
            trace.definitions().AllocatorOn(device.index) == nullptr ? windows_.Find(index) : nullptr);
        if (scope->by_handle) {
          device.fragmentation.refused = "where blocks lie in the memory that the framework has taken is not recorded";
        }
      }
      findings->devices.push_back(std::move(device));
    }
  }

 private:
  const ProcessAnalysis& analysis_;
  PeakWindows windows_;
};

}  // namespace

std::unique_ptr<Collector> MakeDeviceFindings(const ProcessAnalysis& analysis) {
  return std::make_unique<DeviceFindings>(analysis);
}

}  // namespace vramtrack
