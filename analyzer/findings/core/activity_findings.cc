// SPDX-License-Identifier: Apache-2.0
#include "analyzer/findings/core/activity_findings.h"

#include <algorithm>
#include <map>

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

constexpr double kNsPerSecond = 1e9;

template <typename Value, typename Of>
std::vector<Value> Sorted(const std::vector<DeviceUse::Work>& steps, Of of) {
  std::vector<Value> values;
  for (const DeviceUse::Work& step : steps) values.push_back(of(step));
  std::sort(values.begin(), values.end());
  return values;
}

ReportWork DescribeWork(const DeviceUse::DeviceWork& work, const ProcessAnalysis& analysis) {
  static constexpr WorkKind kKinds[DeviceUse::kKinds] = {WorkKind::kKernels, WorkKind::kCopies, WorkKind::kFills,
                                                         WorkKind::kGraphs};
  // Where windows stand for steps, nothing happens "in a step".
  const std::vector<DeviceUse::Work> steps =
      analysis.plan().has_windows() ? std::vector<DeviceUse::Work>() : work.steps;
  ReportWork described;
  described.busy_s = static_cast<double>(work.all.busy_ns) / kNsPerSecond;
  described.steps = steps.size();
  for (size_t kind = 0; kind < DeviceUse::kKinds; ++kind) {
    if (work.all.of[kind].count == 0) continue;
    ReportWork::Kind one;
    one.kind = kKinds[kind];
    one.count = work.all.of[kind].count;
    one.busy_s = static_cast<double>(work.all.of[kind].busy_ns) / kNsPerSecond;
    if (!steps.empty()) {
      const auto counts = Sorted<uint64_t>(steps, [kind](const DeviceUse::Work& step) { return step.of[kind].count; });
      const auto busy = Sorted<uint64_t>(steps, [kind](const DeviceUse::Work& step) { return step.of[kind].busy_ns; });
      one.per_step = counts[counts.size() / 2];
      one.least_per_step = counts.front();
      one.most_per_step = counts.back();
      one.busy_s_per_step = static_cast<double>(busy[busy.size() / 2]) / kNsPerSecond;
    }
    described.kinds.push_back(std::move(one));
  }
  if (steps.empty()) return described;
  const auto busy = Sorted<uint64_t>(steps, [](const DeviceUse::Work& step) { return step.busy_ns; });
  described.busy_s_per_step = static_cast<double>(busy[busy.size() / 2]) / kNsPerSecond;
  double sum = 0;
  for (const uint64_t ns : busy) sum += static_cast<double>(ns) / kNsPerSecond;
  const double took = analysis.trace().clock().Seconds(analysis.ledger().step_ends().back());
  if (took > 0) described.busy_share = std::min(1.0, sum / took);
  return described;
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

ActivityFindings::ActivityFindings(const ProcessAnalysis& analysis)
    : analysis_(analysis), use_(analysis.trace(), SitesToFollow(analysis)) {}

void ActivityFindings::Describe(const Replay& /*replay*/, ProcessFindings* findings) {
  findings->process.activities = DescribeActivities(analysis_.trace(), *analysis_.activities());
  DescribeUnseen(&findings->devices);
  use_.Finish();
  DescribeUse(findings);
}

void ActivityFindings::DescribeUnseen(std::vector<ReportDevice>* devices) const {
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

void ActivityFindings::DescribeUse(ProcessFindings* findings) const {
  const TickClock& clock = analysis_.trace().clock();
  for (ReportDevice& device : findings->devices) {
    const auto found = use_.work().find(DeviceIndex(device.index));
    if (found != use_.work().end()) device.work = DescribeWork(found->second, analysis_);
  }
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

void AddWhoSawIt(ReportSite* site) {
  if (!site->explanation.empty()) site->explanation += "; ";
  site->explanation += "only CUPTI saw this memory: ";
  site->explanation += site->owner.empty() ? "an unknown library" : site->owner;
  site->explanation += " took it from the driver in a way that cannot be hooked, so there is no call stack";
}

}  // namespace vramtrack
