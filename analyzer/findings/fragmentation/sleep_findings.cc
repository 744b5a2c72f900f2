// SPDX-License-Identifier: Apache-2.0
#include "analyzer/findings/fragmentation/fragmentation_collectors.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "absl/container/btree_map.h"
#include "analyzer/findings/core/device_findings.h"
#include "analyzer/ledger/kind.h"
#include "analyzer/model/frame_text.h"

namespace vramtrack {
namespace {

constexpr size_t kMaxLines = 100;

// From cycle to cycle; the first one also has what a job allocates once.
std::optional<double> GrowthPerCycle(uint64_t second, uint64_t last, uint64_t cycles) {
  if (cycles < 3) return std::nullopt;
  return (static_cast<double>(last) - static_cast<double>(second)) / static_cast<double>(cycles - 2);
}

// Finds cycles of sleep and wake: a server releases memory while its tensors keep their addresses, and maps other
// memory there before it uses them again. vLLM's CuMemAllocator and torch_memory_saver do so.
//
// A mapping at the address of an earlier mapping that was removed is a wake if the addresses stayed in use: if a live
// block of a framework is there, or, on a device without blocks, in any case. PyTorch's expandable segments also map
// memory at addresses that they had before, but only where no block is. A cycle ends when memory is unmapped again, or
// when nothing sleeps.
class SleepFindings final : public Collector, public ReplayObserver {
 public:
  explicit SleepFindings(ProcessAnalysis* analysis) : analysis_(*analysis) {}

  const char* name() const override { return "sleep and wake"; }
  void Prepare(Replay* detail) override { detail->observers.push_back(this); }

  void Describe(const Replay& replay, ProcessFindings* findings) override {
    for (auto& [index, device] : devices_) {
      ReportSleep& report = device.report;
      if (report.cycles == 0) continue;
      report.device = index.value();
      report.bytes_per_cycle = GrowthPerCycle(device.second.bytes, report.last_bytes, report.cycles);
      DescribeLines(replay, &device);
      findings->process.sleeps.push_back(std::move(report));
    }
  }

  void OnBegin(const Ledger& ledger) override { ledger_ = &ledger; }
  void OnAllocate(const ReplayAllocation& allocated) override {
    const uint32_t kind = allocated.site.key.kind;
    if (__builtin_expect(kind == schema::MAPPING, 0)) Map(allocated);
    if (__builtin_expect(kind == schema::PHYSICAL, 0)) Create(allocated);
  }
  void OnFree(const ReplayAllocation& freed) override {
    const uint32_t kind = freed.site.key.kind;
    if (__builtin_expect(kind == schema::MAPPING || kind == schema::ADDRESS_RANGE, 0)) Unmap(freed);
  }

 private:
  using Ranges = absl::btree_map<uint64_t, uint64_t>;  // addresses and bytes
  using SiteBytes = std::map<SiteIndex, uint64_t>;
  // What a device held while the process slept: neither blocks that slept nor segments.
  struct Held {
    uint64_t bytes = 0;  // of the whole device
    SiteBytes sites;
  };
  struct Device {
    Ranges unmapped;             // where memory was and is to come back
    std::optional<Held> asleep;  // since the last mapping was removed; set when memory is made for the next one
    bool waking = false;
    Held second, last;  // the second and the last cycle
    ReportSleep report;
  };

  // A wake makes memory before it maps it.
  void Create(const ReplayAllocation& memory) {
    const auto found = devices_.find(memory.site.key.device);
    if (found == devices_.end()) return;
    Device& device = found->second;
    if (device.unmapped.empty() || device.waking || device.asleep) return;
    device.asleep = HeldBut(found->first, device.unmapped, &memory.allocation);
  }

  void Map(const ReplayAllocation& mapping) {
    const auto found = devices_.find(mapping.site.key.device);
    if (found == devices_.end()) return;
    Device& device = found->second;
    const auto at = device.unmapped.find(mapping.allocation.address());
    if (at != device.unmapped.end() && !device.waking) {
      device.waking = true;
      device.last = device.asleep ? *device.asleep : HeldBut(found->first, device.unmapped, nullptr);
      ReportSleep& report = device.report;
      report.last_bytes = device.last.bytes;
      if (++report.cycles == 1) report.first_bytes = report.last_bytes;
      if (report.cycles == 2) device.second = device.last;
      report.released_bytes = 0;
      for (const auto& [begin, size] : device.unmapped) report.released_bytes += size;
    }
    device.asleep.reset();
    if (at != device.unmapped.end()) device.unmapped.erase(at);
  }

  void Unmap(const ReplayAllocation& freed) {
    const uint64_t address = freed.allocation.address();
    if (freed.site.key.kind == schema::ADDRESS_RANGE) {
      // The device of a range of addresses is not that of the memory.
      for (auto& [index, device] : devices_) {
        const auto begin = device.unmapped.lower_bound(address);
        device.unmapped.erase(begin, device.unmapped.lower_bound(address + freed.allocation.bytes));
      }
      return;
    }
    const Scope* const driver = ScopeOfDevice(*ledger_, freed.site.key.device);
    if (driver != nullptr && driver->segments != nullptr && driver->segments->asleep().count(address) == 0) return;
    Device& device = devices_[freed.site.key.device];
    device.unmapped[address] = freed.allocation.bytes;
    device.waking = false;
    device.asleep.reset();
  }

  // What is held now, without the memory that is made for a wake, and without the blocks where memory is missing.
  Held HeldBut(DeviceIndex index, const Ranges& unmapped, const LiveAllocation* made) const {
    SiteBytes hidden;
    if (made != nullptr) hidden[made->site] += made->bytes;
    ledger_->ForEachBlock(index, [&](const AllocationName&, const LiveAllocation& block) {
      const auto after = unmapped.lower_bound(block.address() + block.bytes);
      if (after == unmapped.begin()) return;
      const auto& [begin, bytes] = *std::prev(after);
      if (begin + bytes > block.address()) hidden[block.site] += block.bytes;
    });
    Held held;
    if (const Scope* driver = ScopeOfDevice(*ledger_, index)) held.bytes = driver->pages.reserved() + driver->outside;
    held.bytes -= std::min(held.bytes, made == nullptr ? 0 : made->bytes);
    for (const SiteIndex i : ledger_->sites().indices()) {
      const Site& site = ledger_->sites()[i];
      if (site.scope == Site::kNoScope || ledger_->scopes()[site.scope].device != index) continue;
      const auto found = hidden.find(i);
      const uint64_t not_held = site.segment_bytes + (found == hidden.end() ? 0 : found->second);
      if (site.live_bytes > not_held) held.sites[i] = site.live_bytes - not_held;
    }
    return held;
  }

  void DescribeLines(const Replay& replay, Device* device) {
    struct Line {
      ReportSleepLine shown;
      uint64_t second = 0, largest = 0;  // largest: of the stack that is shown
    };
    // Stacks that a reader cannot tell apart are one line.
    std::map<std::tuple<Level, std::string, std::string>, Line> lines;
    SiteBytes last = device->last.sites, second = device->second.sites;
    for (const auto& [site, bytes] : second) last.try_emplace(site, 0);
    for (const auto& [site, bytes] : last) {
      const SiteKey& key = replay.ledger->sites()[site].key;
      std::vector<ReportFrame> frames = analysis_.shown().Frames(key.stack);
      const std::string owner = analysis_.symbolizer().Owner(key.stack);
      Line& line = lines[{LevelOf(key.kind), owner, StackPlace(frames)}];
      line.shown.level = LevelOf(key.kind);
      line.shown.owner = owner;
      line.shown.last_bytes += bytes;
      line.second += second[site];
      if (bytes > line.largest) {
        line.largest = bytes;
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

  ProcessAnalysis& analysis_;
  const Ledger* ledger_ = nullptr;
  std::map<DeviceIndex, Device> devices_;
};

}  // namespace

std::unique_ptr<Collector> MakeSleepFindings(ProcessAnalysis* analysis) {
  return std::make_unique<SleepFindings>(analysis);
}

}  // namespace vramtrack
