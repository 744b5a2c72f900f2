// SPDX-License-Identifier: Apache-2.0
#include "analyzer/cupti/device_use.h"

#include <algorithm>
#include <string_view>

#include "analyzer/ledger/kind.h"

namespace vramtrack {
namespace {

constexpr double kSameKernel = 0.9;
constexpr uint64_t kFewAllocations = 5;
constexpr double kIdleShare = 0.01;  // of the run

// Whether the tracer asked for records of this name.
bool Asked(const Trace& trace, std::string_view name) {
  for (const auto& [variable, value] : trace.definitions().process.environment) {
    if (variable != "VRAMTRACK_CUPTI_RECORDS") continue;
    std::string_view left = value;
    while (!left.empty()) {
      const size_t end = std::min(left.find(','), left.size());
      if (left.substr(0, end) == name) return true;
      left.remove_prefix(std::min(end + 1, left.size()));
    }
  }
  return false;
}

// Whether only what runs on a device can use it, and only this process frees it.
bool IsOfDevicesAlone(uint32_t kind) {
  return LevelOf(kind) != Level::kHandle && !IsHostMemory(kind) && !IsForeignMemory(kind) && !IsAddressSpace(kind) &&
         kind != schema::MANAGED;
}

}  // namespace

DeviceUse::DeviceUse(const Trace& trace, const std::vector<std::vector<SiteIndex>>& groups)
    : trace_(trace), stream_(trace) {
  // Older versions recorded a launch of a graph in place of its kernels where "graphs" were asked for.
  all_asked_ = Asked(trace, "kernels") && Asked(trace, "copies") && Asked(trace, "fills") && !Asked(trace, "graphs");
  for (const std::vector<SiteIndex>& group : groups) {
    for (const SiteIndex site : group) group_of_site_[site] = static_cast<uint32_t>(followed_.size());
    followed_.emplace_back();
    if (!group.empty()) followed_.back().site = group[0];
  }
  has_record_ = stream_.Next(&record_, &record_ticks_);
  if (has_record_) first_record_ticks_ = record_ticks_;
}

void DeviceUse::ReadUntil(uint64_t ticks) {
  for (; has_record_ && record_ticks_ <= ticks; has_record_ = stream_.Next(&record_, &record_ticks_)) {
    if (record_.kind >= schema::ACTIVITY_KERNEL && record_.kind <= schema::ACTIVITY_MEMSET) Execute(record_);
  }
}

void DeviceUse::Execute(const ActivityRecord& record) {
  const uint64_t end = stream_.clock().Ticks(record.start_ns + record.duration_ns);
  if (end > last_end_) {
    last_end_ = end;
    last_step_ = ledger_->steps().step();
  }
  if (record.kind != schema::ACTIVITY_KERNEL) return;
  const auto waiting = waiting_.find(DeviceIndex(record.device));
  if (waiting == waiting_.end()) return;
  for (const uint32_t group : waiting->second) {
    Followed& followed = followed_[group];
    followed.waits = false;
    ++followed.kernels[record.text];
  }
  waiting->second.clear();
}

void DeviceUse::OnAllocate(const ReplayAllocation& allocated) {
  const auto found = group_of_site_.find(allocated.allocation.site);
  if (found == group_of_site_.end()) return;
  const uint64_t ticks = ledger_->last_ticks();
  ReadUntil(ticks);
  Followed& followed = followed_[found->second];
  if (followed.allocations++ == 0) followed.first_ticks = ticks;
  births_[{allocated.slot, allocated.ordinal}] = {ticks, allocated.allocation.birth_step, found->second};
  if (followed.waits) return;  // none ran in between
  followed.waits = true;
  waiting_[allocated.allocation.device()].push_back(found->second);
}

void DeviceUse::NoteEnd(const Birth& birth, uint64_t end) {
  Followed& followed = followed_[birth.group];
  LastUse& last = followed.last;
  ++last.objects;
  // What nothing ran behind was not used at all.
  const bool ran = last_end_ > birth.ticks;
  const uint64_t latest = std::min(ran ? last_end_ : birth.ticks, end);
  followed.idle.Add(end - latest);
  const uint32_t step = ran ? last_step_ : birth.step;
  if (latest == last.ticks) last.step = std::max(last.step, step);
  if (latest <= last.ticks) return;
  last.ticks = latest;
  last.step = step;
}

void DeviceUse::OnFree(const ReplayAllocation& freed) {
  const auto birth = births_.find({freed.slot, freed.ordinal});
  if (birth == births_.end()) return;
  const uint64_t ticks = ledger_->last_ticks();
  ReadUntil(ticks);
  NoteEnd(birth->second, ticks);
  births_.erase(birth);
}

void DeviceUse::Finish() {
  ReadUntil(UINT64_MAX);
  const uint64_t end = std::max(trace_.end_ticks(), ledger_->last_ticks());
  // In any order: what is made of them does not depend on it.
  for (const auto& [name, birth] : births_) NoteEnd(birth, end);
  births_.clear();
}

double DeviceUse::WorthAWord() const {
  const std::vector<uint64_t>& ends = ledger_->step_ends();
  const uint64_t start = trace_.clock().start_ticks();
  if (ends.size() < 2) {
    return kIdleShare * static_cast<double>(std::max(trace_.end_ticks(), ledger_->last_ticks()) - start);
  }
  GapHistogram steps;
  for (size_t i = 1; i < ends.size(); ++i) steps.Add(ends[i] - std::min(ends[i], ends[i - 1]));
  return steps.Median();
}

std::optional<DeviceUse::LastUse> DeviceUse::LastUseOf(size_t group) const {
  const Followed& followed = followed_[group];
  if (followed.last.objects == 0 || last_end_ == 0 || !all_asked_) return std::nullopt;
  if (!IsOfDevicesAlone(ledger_->sites()[followed.site].key.kind)) return std::nullopt;
  if (trace_.counter(schema::COUNTER_ACTIVITIES_DROPPED) + trace_.counter(schema::COUNTER_ACTIVITIES_UNWRITTEN) != 0) {
    return std::nullopt;
  }
  for (const ActivityGap& gap : stream_.Gaps(UINT64_MAX)) {
    // A tracer that says late that it has begun has reported what came before.
    const bool before_first = gap.begin < first_record_ticks_;
    const uint64_t end = before_first ? std::min(gap.end, first_record_ticks_) : gap.end;
    if (end > followed.first_ticks) return std::nullopt;
  }
  LastUse last = followed.last;
  last.idle_ticks = followed.idle.Median();
  if (last.idle_ticks < WorthAWord() || last.idle_ticks == 0) return std::nullopt;
  return last;
}

std::optional<DeviceUse::FirstKernel> DeviceUse::FirstKernelOf(size_t group) const {
  const Followed& followed = followed_[group];
  if (followed.allocations < kFewAllocations) return std::nullopt;
  const std::map<uint32_t, uint64_t>& kernels = followed.kernels;
  const auto most = std::max_element(kernels.begin(), kernels.end(),
                                     [](const auto& a, const auto& b) { return a.second < b.second; });
  if (most == kernels.end() || stream_.Text(most->first).empty()) return std::nullopt;
  FirstKernel first;
  first.name = stream_.Text(most->first);
  first.share = static_cast<double>(most->second) / static_cast<double>(followed.allocations);
  if (first.share < kSameKernel) return std::nullopt;
  return first;
}

}  // namespace vramtrack
