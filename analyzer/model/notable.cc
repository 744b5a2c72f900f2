// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/notable.h"

#include <algorithm>
#include <string>

namespace vramtrack {
namespace {

constexpr uint64_t kTwentieth = 20, kHundredth = 100;
constexpr uint64_t kLeastPinnedBytes = 1 << 20;
constexpr double kNearlyAll = 0.95;

}  // namespace

bool IsMuchPinned(const ReportFragmentation& fragmentation) {
  if (!fragmentation.at_reserved_peak) return false;
  const ReportSegmentUse& use = *fragmentation.at_reserved_peak;
  return use.free_pinned >= use.reserved / kTwentieth && NotablePins(fragmentation.pins, use.free_pinned) > 0;
}

size_t NotablePins(const std::vector<ReportPin>& pins, uint64_t all) {
  size_t notable = 0;
  while (notable < pins.size() && pins[notable].bytes >= all / kTwentieth && pins[notable].bytes >= kLeastPinnedBytes) {
    ++notable;
  }
  return notable;
}

bool KeepsEverything(const ReportMemoryPool& pool) {
  constexpr uint64_t kUnlimited = uint64_t{1} << 60;
  return pool.release_threshold && *pool.release_threshold >= kUnlimited;
}

bool IsNotableInDriver(const ReportSite& site, const ReportDevice& device) {
  return site.device == device.index && site.level == Level::kDriver && site.category != "segment" &&
         site.bytes_at_peak > 0 && site.bytes_at_peak >= device.peak.device_used / kTwentieth;
}

bool LeaveMuchUncovered(const ReportSteps& steps) { return steps.coverage > 0 && steps.coverage < kNearlyAll; }

double NotableUnjudgedShare(const ReportSteps& steps) {
  double unjudged = 0;
  for (const ReportPhase& phase : steps.phases) {
    if (phase.unit == StepUnit::kNone) unjudged += phase.share;
  }
  return unjudged > 1 - kNearlyAll ? unjudged : 0;
}

bool IsSimulated(const ReportDevice& device) { return device.name == "Simulated GPU"; }

bool AskedByJob(const ReportRelease& release) {
  return std::any_of(release.stack.begin(), release.stack.end(), [](const ReportFrame& frame) {
    return frame.function.find("empty_cache") != std::string::npos ||
           frame.function.find("emptyCache") != std::string::npos;
  });
}

bool IsNotableCategory(uint64_t bytes, uint64_t all) { return bytes >= all / kHundredth; }

}  // namespace vramtrack
