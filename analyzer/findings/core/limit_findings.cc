// SPDX-License-Identifier: Apache-2.0
#include "analyzer/findings/core/limit_findings.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "absl/strings/str_cat.h"
#include "analyzer/findings/core/device_findings.h"
#include "analyzer/leaks/growth.h"

namespace vramtrack {
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
  if (device.unexplained_growth > 0) return "live bytes grow, and no allocation site explains it";
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

}  // namespace vramtrack
