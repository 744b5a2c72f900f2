// SPDX-License-Identifier: Apache-2.0
#include "analyzer/findings/core/framework_findings.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "analyzer/base/quantity.h"

namespace vramtrack {

namespace {

// A leak of small blocks can make segments grow more than live bytes do, each block in one of its own, but then as long
// as it goes on.
constexpr double kFarMore = 4;

}  // namespace

std::map<DeviceIndex, FrameworkGrowth> GrowthOfFrameworks(const Ledger& ledger, const RunShape& run) {
  std::map<DeviceIndex, FrameworkGrowth> frameworks;
  for (const Scope& scope : ledger.scopes()) {
    // Without segments there is nothing reserved that could grow or not.
    if (scope.level != Level::kFramework || scope.segments == nullptr || scope.reserved_peak == 0) continue;
    FrameworkGrowth& growth = frameworks[scope.device];
    growth.live = EstimateGrowth(scope.live_floors, run.warmup_end);
    growth.reserved = EstimateGrowth(scope.reserved_floors, run.warmup_end);
    const Step half = run.warmup_end + (run.steps - std::min(run.steps, run.warmup_end)) / 2;
    if (!growth.live || !growth.reserved || run.steps < half + 2 * kMinGrowthSteps) continue;
    growth.reserved_stopped = growth.reserved->bytes_per_step > kFarMore * growth.live->bytes_per_step &&
                              !EstimateGrowth(scope.reserved_floors, half);
  }
  return frameworks;
}

void AddDriverEvidence(const FrameworkGrowth& growth, uint64_t window_bytes, ReportSite* site) {
  if (growth.reserved_stopped) {
    absl::StrAppend(&site->explanation, "; the framework's reserved memory does not grow any more: it has room");
  } else if (growth.reserved) {
    site->grade = "framework+driver";
    const double units = window_bytes == 0 ? 1 : kRateBytes / static_cast<double>(window_bytes);
    absl::StrAppend(&site->explanation, "; the framework's reserved memory grows as well, by ",
                    FormatByteCount(growth.reserved->bytes_per_step * units), " per ",
                    NameOf(window_bytes == 0 ? RateUnit::kStep : RateUnit::kGiB));
  } else {
    absl::StrAppend(&site->explanation, "; the framework's reserved memory does not grow yet: it still has room");
  }
}

std::vector<std::pair<std::string, uint64_t>> OtherOwners(const Ledger& ledger, DeviceIndex device,
                                                          const TracedAllocator* allocator,
                                                          const StackSymbolizer& symbolizer) {
  std::map<std::string, uint64_t> by_owner;
  for (const Site& site : ledger.sites()) {
    if (site.scope == Site::kNoScope) continue;
    const Scope& scope = ledger.scopes()[site.scope];
    if (!scope.is_device() || scope.is_leading() || scope.device != device) continue;
    const uint64_t bytes = site.bytes_at_peak - site.segment_bytes_at_peak;
    if (bytes > 0) by_owner[symbolizer.Owner(site.key.stack)] += bytes;
  }
  if (allocator != nullptr && allocator->by_handle) {
    for (const Scope& scope : ledger.scopes()) {
      if (scope.level != Level::kFramework || scope.device != device) continue;
      uint64_t& pool = by_owner[allocator->name];
      pool -= std::min(pool, scope.peak_moment.usage.live);
      if (pool == 0) by_owner.erase(allocator->name);
    }
  }
  std::vector<std::pair<std::string, uint64_t>> owners(by_owner.begin(), by_owner.end());
  std::stable_sort(owners.begin(), owners.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  return owners;
}

void AddFrameworkRemarks(const std::string& path, const Definitions& definitions, const Ledger& ledger,
                         const FrameworkCheck& check, std::vector<std::string>* warnings) {
  if (definitions.process.joined_after_s > 0) {
    // What is missing is what was there before.
    if (check.given_out() <= 0 && check.reserved() <= 0) return;
    warnings->push_back(absl::StrCat(path, ": by the framework's own count, ",
                                     FormatByteCount(static_cast<double>(std::max<int64_t>(check.given_out(), 0))),
                                     " of its live blocks and ",
                                     FormatByteCount(static_cast<double>(std::max<int64_t>(check.reserved(), 0))),
                                     " of its reserved memory are from before the process was joined"));
    return;
  }
  if (check.mismatches() > 0 &&
      (check.given_out() != 0 || check.reserved() != 0 || check.mismatches() > check.checks() / 10)) {
    warnings->push_back(absl::StrCat(path, ": ", check.mismatches(), " of ", check.checks(),
                                     " times the framework's own count of its memory was not that of its blocks and "
                                     "segments here; at the last it had given out ",
                                     check.given_out(), " bytes more and reserved ", check.reserved(), " bytes more"));
  }
  for (const Scope& scope : ledger.scopes()) {
    if (scope.level != Level::kFramework) continue;
    const uint64_t most = std::max(scope.peak_moment.framework.unplaced, scope.end_moment.framework.unplaced);
    if (most == 0 || definitions.IsHostAsDevice(scope.device.value())) continue;
    warnings->push_back(absl::StrCat(path, ": device ", scope.device.value(), ": ",
                                     FormatByteCount(static_cast<double>(most)),
                                     " of the framework's blocks lie in memory whose allocation was not seen"));
  }
}

}  // namespace vramtrack
