// SPDX-License-Identifier: Apache-2.0
#include "analyzer/findings/fragmentation/sleep_findings.h"

#include <algorithm>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "analyzer/ledger/kind.h"

namespace vramtrack {
namespace {

constexpr size_t kMaxLines = 100;

// Returns whether `ranges`, which do not overlap, have a byte in [begin, begin + bytes).
bool Touches(const absl::btree_map<uint64_t, uint64_t>& ranges, uint64_t begin, uint64_t bytes) {
  auto at = ranges.lower_bound(begin + bytes);
  if (at == ranges.begin()) return false;
  --at;
  return at->first + at->second > begin;
}

const Scope* ScopeOf(const Ledger& ledger, DeviceIndex device, Level level) {
  for (const Scope& scope : ledger.scopes()) {
    if (scope.device == device && (scope.level == Level::kFramework) == (level == Level::kFramework)) return &scope;
  }
  return nullptr;
}

// From cycle to cycle; the first one also has what a job allocates once.
std::optional<double> GrowthPerCycle(uint64_t second, uint64_t last, uint64_t cycles) {
  if (cycles < 3) return std::nullopt;
  return (static_cast<double>(last) - static_cast<double>(second)) / static_cast<double>(cycles - 2);
}

}  // namespace

bool SleepFindings::AreDue(const Ledger& ledger) {
  return std::any_of(ledger.sites().begin(), ledger.sites().end(),
                     [](const Site& site) { return site.key.kind == schema::MAPPING && site.frees > 0; });
}

void SleepFindings::Unmap(const ReplayAllocation& freed) {
  const uint64_t address = freed.allocation.address();
  if (freed.site.key.kind == schema::ADDRESS_RANGE) {
    // The device of a range of addresses is not that of the memory.
    for (auto& [index, device] : devices_) {
      const auto begin = device.unmapped.lower_bound(address);
      device.unmapped.erase(begin, device.unmapped.lower_bound(address + freed.allocation.bytes));
    }
    return;
  }
  Device& device = devices_[freed.site.key.device];
  device.unmapped[address] = freed.allocation.bytes;
  device.waking = device.looked = false;
  device.made.clear();
}

void SleepFindings::Create(const ReplayAllocation& memory) {
  const auto found = devices_.find(memory.site.key.device);
  if (found == devices_.end() || found->second.unmapped.empty() || found->second.waking) return;
  found->second.made[memory.allocation.address()] = {memory.allocation.site, memory.allocation.bytes};
}

void SleepFindings::Map(const ReplayAllocation& mapping) {
  const auto found = devices_.find(mapping.site.key.device);
  if (found == devices_.end()) return;
  Device& device = found->second;
  const uint64_t address = mapping.allocation.address(), bytes = mapping.allocation.bytes;
  const auto at = device.unmapped.find(address);
  if (at == device.unmapped.end()) return;
  if (IsInUse(found->first, &device, address, std::max(bytes, at->second))) {
    // A mapping of another size has none of the blocks that slept: see Segments::AddRange.
    const bool is_segment = !device.blocks.empty() && bytes == at->second;
    if (!device.waking) NoteCycle(found->first, mapping.stream, is_segment ? bytes : 0, &device);
    device.waking = true;
  }
  device.unmapped.erase(at);
}

bool SleepFindings::IsInUse(DeviceIndex index, Device* device, uint64_t address, uint64_t bytes) const {
  if (ScopeOf(*ledger_, index, Level::kFramework) == nullptr) return true;
  if (!device->looked) {
    device->looked = true;
    device->blocks.clear();
    device->asleep.clear();
    ledger_->live().ForEach([&](const LiveAllocation& live) {
      if (live.device() != index || LevelOf(ledger_->sites()[live.site].key.kind) != Level::kFramework) return;
      if (!Touches(device->unmapped, live.address(), live.bytes)) return;
      device->blocks[live.address()] = live.bytes;
      device->asleep[live.site] += live.bytes;
    });
  }
  return Touches(device->blocks, address, bytes);
}

void SleepFindings::NoteCycle(DeviceIndex index, uint64_t memory, uint64_t segment_bytes, Device* device) const {
  // By now the memory that is mapped first has been made, and perhaps all that is to be mapped.
  SiteBytes hidden = device->asleep;
  uint64_t held = 0, made = 0;
  for (const auto& [handle, one] : device->made) {
    const auto& [site, bytes] = one;
    made += bytes;
    const bool mapped = handle == (memory & LiveAllocation::kAddressMask);
    hidden[site] += bytes - (mapped ? std::min(bytes, segment_bytes) : 0);
  }
  if (const Scope* driver = ScopeOf(*ledger_, index, Level::kDriver)) held = driver->pages.reserved() + driver->outside;
  held -= std::min(held, made);

  ReportSleep& report = device->report;
  report.last_bytes = held;
  if (++report.cycles == 1) report.first_bytes = held;
  report.released_bytes = 0;
  for (const auto& [address, bytes] : device->unmapped) report.released_bytes += bytes;
  device->last.clear();
  for (const SiteIndex i : ledger_->sites().indices()) {
    const Site& site = ledger_->sites()[i];
    if (site.scope == Site::kNoScope || ledger_->scopes()[site.scope].device != index) continue;
    const auto found = hidden.find(i);
    const uint64_t not_held = site.segment_bytes + (found == hidden.end() ? 0 : found->second);
    if (site.live_bytes > not_held) device->last[i] = site.live_bytes - not_held;
  }
  if (report.cycles == 2) {
    device->second = device->last;
    device->second_bytes = held;
  }
}

void SleepFindings::Describe(const Replay& replay, ProcessFindings* findings) {
  for (auto& [index, device] : devices_) {
    ReportSleep& report = device.report;
    if (report.cycles == 0) continue;
    report.device = index.value();
    report.bytes_per_cycle = GrowthPerCycle(device.second_bytes, report.last_bytes, report.cycles);
    DescribeLines(replay, &device);
    findings->process.sleeps.push_back(std::move(report));
  }
}

void SleepFindings::DescribeLines(const Replay& replay, Device* device) {
  struct Line {
    ReportSleepLine shown;
    uint64_t second = 0, largest = 0;  // largest: of the stack that is shown
  };
  // Stacks that a reader cannot tell apart are one line.
  std::map<std::tuple<Level, std::string, std::string, std::string, uint64_t>, Line> lines;
  SiteBytes either = device->last;
  either.insert(device->second.begin(), device->second.end());
  const auto bytes_of = [](const SiteBytes& sites, SiteIndex site) {
    const auto found = sites.find(site);
    return found == sites.end() ? 0 : found->second;
  };
  for (const auto& [site, unused] : either) {
    const SiteKey& key = replay.ledger->sites()[site].key;
    std::vector<ReportFrame> frames = analysis_.shown().Frames(key.stack);
    const size_t named = NamingFrame(frames, 0);
    const ReportFrame place = named < frames.size() ? frames[named] : ReportFrame();
    const std::string owner = analysis_.symbolizer().Owner(key.stack);
    Line& line = lines[{LevelOf(key.kind), owner, place.file.empty() ? place.module : place.file, place.function,
                        place.line != 0 ? place.line : place.offset}];
    const uint64_t last = bytes_of(device->last, site);
    line.shown.level = LevelOf(key.kind);
    line.shown.owner = owner;
    line.shown.last_bytes += last;
    line.second += bytes_of(device->second, site);
    if (last > line.largest) {
      line.largest = last;
      line.shown.stack = std::move(frames);
    }
  }
  std::vector<ReportSleepLine>& shown = device->report.lines;
  for (auto& [key, line] : lines) {
    if (line.shown.last_bytes == 0) continue;
    line.shown.bytes_per_cycle = GrowthPerCycle(line.second, line.shown.last_bytes, device->report.cycles);
    shown.push_back(std::move(line.shown));
  }
  std::stable_sort(shown.begin(), shown.end(), [](const ReportSleepLine& a, const ReportSleepLine& b) {
    const double a_growth = std::max(0.0, a.bytes_per_cycle.value_or(0));
    const double b_growth = std::max(0.0, b.bytes_per_cycle.value_or(0));
    return std::tie(a_growth, a.last_bytes) > std::tie(b_growth, b.last_bytes);
  });
  if (shown.size() > kMaxLines) shown.resize(kMaxLines);
}

}  // namespace vramtrack
