// SPDX-License-Identifier: Apache-2.0
#include "analyzer/findings/core/activity_findings.h"

#include <algorithm>
#include <map>
#include <memory>
#include <vector>

#include "analyzer/cupti/activity_join.h"
#include "analyzer/cupti/device_use.h"
#include "analyzer/findings/core/device_findings.h"
#include "analyzer/ledger/kind.h"
#include "analyzer/symbols/demangle.h"

namespace vramtrack {
namespace {

// As schema::Kind names what it is alike to.
const char* MemoryName(uint32_t memory) {
  switch (memory) {
    case kActivityPageable:
      return "pageable";
    case kActivityPinned:
      return vramtrack::KindName(schema::PINNED);
    case kActivityDevice:
      return vramtrack::KindName(schema::DEVICE);
    case kActivityArray:
      return vramtrack::KindName(schema::ARRAY);
    case kActivityManaged:
      return vramtrack::KindName(schema::MANAGED);
    case kActivityDeviceStatic:
      return "device_static";
    case kActivityManagedStatic:
      return "managed_static";
    default:
      return "unknown";
  }
}

ReportActivities DescribeActivities(const Trace& trace, const ActivityJoin& join) {
  ReportActivities activities;
  activities.records = trace.counter(schema::COUNTER_ACTIVITIES);
  activities.dropped = trace.counter(schema::COUNTER_ACTIVITIES_DROPPED);
  activities.unwritten = trace.counter(schema::COUNTER_ACTIVITIES_UNWRITTEN);
  activities.joined = join.joined();
  activities.joined_bytes = join.joined_bytes();
  activities.other_sizes = join.other_sizes();
  for (const auto& [key, sum] : join.only_cupti()) {
    const auto& [library, memory, device] = key;
    activities.only_cupti.push_back(
        {library, MemoryName(memory), device, sum.allocations, sum.bytes, sum.live_objects, sum.live_bytes});
  }
  std::stable_sort(activities.only_cupti.begin(), activities.only_cupti.end(), [](const auto& a, const auto& b) {
    return a.live_bytes != b.live_bytes ? a.live_bytes > b.live_bytes : a.bytes > b.bytes;
  });
  for (const auto& [kind, sum] : join.only_hooks()) {
    activities.only_hooks.push_back({KindName(kind), sum.allocations, sum.bytes, join.joined_kinds().count(kind) != 0});
  }
  std::stable_sort(activities.only_hooks.begin(), activities.only_hooks.end(),
                   [](const auto& a, const auto& b) { return a.bytes > b.bytes; });
  for (const ActivityGap& gap : join.gaps()) {
    activities.missing.push_back({trace.clock().Seconds(gap.begin), trace.clock().Seconds(gap.end), gap.why});
  }
  return activities;
}

// Sites whose use is of interest, by group: those of leaks; empty for other groups.
std::vector<std::vector<SiteIndex>> SitesToFollow(const ProcessAnalysis& analysis) {
  std::vector<std::vector<SiteIndex>> sites;
  for (const SiteGroup& group : analysis.groups()) {
    const bool leaks = IsLeak(analysis.verdicts()[group.sites[0]].verdict);
    sites.push_back(leaks ? group.sites : std::vector<SiteIndex>());
  }
  return sites;
}

}  // namespace
void AddWhoSawIt(ReportSite* site) {
  if (!site->explanation.empty()) site->explanation += "; ";
  site->explanation += "only CUPTI saw this memory: ";
  site->explanation += site->owner.empty() ? "an unknown library" : site->owner;
  site->explanation += " took it from the driver in a way that cannot be hooked, so there is no call stack";
}

namespace {

class ActivityFindings final : public Collector {
 public:
  explicit ActivityFindings(const ProcessAnalysis& analysis)
      : analysis_(analysis), use_(analysis.trace(), SitesToFollow(analysis)) {}

  const char* name() const override { return "use of memory"; }
  void Prepare(Replay* detail) override { detail->observers.push_back(&use_); }

  void Describe(const Replay& /*replay*/, ProcessFindings* findings) override {
    findings->process.activities = DescribeActivities(analysis_.trace(), *analysis_.activities());
    DescribeUnseen(&findings->devices);
    use_.Finish();
    DescribeUse(findings);
  }

 private:
  void DescribeUnseen(std::vector<ReportDevice>* devices) const {
    for (ReportDevice& device : *devices) {
      std::map<std::string, ReportOnlyCupti> by_library;
      for (const Site& site : analysis_.ledger().sites()) {
        if (!analysis_.IsUnseen(site) || site.key.device != DeviceIndex(device.index)) continue;
        ReportOnlyCupti& sum = by_library[analysis_.activities()->unseen().LibraryOf(site.key)];
        sum.at_peak += site.bytes_at_peak;
        sum.at_end += site.live_bytes;
      }
      for (auto& [library, sum] : by_library) {
        sum.library = library;
        device.only_cupti.push_back(sum);
      }
      std::stable_sort(device.only_cupti.begin(), device.only_cupti.end(), [](const auto& a, const auto& b) {
        return std::max(a.at_end, a.at_peak) > std::max(b.at_end, b.at_peak);
      });
    }
  }

  void DescribeUse(ProcessFindings* findings) const {
    const TickClock& clock = analysis_.trace().clock();
    for (size_t i = 0; i < findings->sites.size(); ++i) {
      ReportSite& site = findings->sites[i];
      if (const std::optional<DeviceUse::LastUse> last = use_.LastUseOf(i)) {
        site.last_use = {last->objects, clock.Seconds(last->ticks), ReportedStep(analysis_.run(), last->step),
                         last->idle_ticks / clock.ticks_per_second()};
      }
      if (const std::optional<DeviceUse::FirstKernel> first = use_.FirstKernelOf(i)) {
        site.first_kernel = {Demangle(first->name), first->share};
      }
    }
  }

  const ProcessAnalysis& analysis_;
  DeviceUse use_;
};

}  // namespace

std::unique_ptr<Collector> MakeActivityFindings(const ProcessAnalysis& analysis) {
  return std::make_unique<ActivityFindings>(analysis);
}

}  // namespace vramtrack
