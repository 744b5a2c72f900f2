// SPDX-License-Identifier: Apache-2.0
#include "analyzer/findings/core/context_findings.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/findings/core/device_findings.h"
#include "analyzer/ledger/ledger.h"

namespace vramtrack {
namespace {

// A device is one that the process works on if it has this share there of its memory where it has most.
constexpr double kWorks = 0.01;

class ContextFindings final : public Collector, public ReplayObserver {
 public:
  explicit ContextFindings(ProcessAnalysis* analysis) : analysis_(*analysis) {}

  const char* name() const override { return "contexts"; }
  void Prepare(Replay* detail) override { detail->observers.push_back(this); }

  unsigned frequent_calls() const override { return kAllocations; }
  void OnBegin(const Ledger& ledger) override { ledger_ = &ledger; }
  void OnAllocate(const ReplayAllocation& made) override {
    if (__builtin_expect(made.site.key.kind != schema::CONTEXT, 1)) return;
    const auto [first, is_new] = first_.try_emplace({made.site.key.device, made.site.key.stack});
    if (is_new) first->second = {made.slot, ledger_->last_ticks(), ledger_->steps().step()};
  }

  void Describe(const Replay& replay, ProcessFindings* findings) override {
    const Ledger& ledger = *replay.ledger;
    uint64_t most = 0;
    for (const Scope& scope : ledger.scopes()) most = std::max(most, scope.device == kHost ? 0 : scope.peak);
    std::map<DeviceIndex, uint64_t> live;
    for (const Site& site : ledger.sites()) {
      if (site.key.kind == schema::CONTEXT) live[site.key.device] += site.live_objects;
    }
    // Threads that have no name of their own have the program's.
    const auto& threads = analysis_.trace().definitions().threads;
    std::string program;
    for (const auto& [number, thread] : threads) {
      if (thread.tid == findings->process.pid) program = thread.name;
    }
    std::vector<ReportContext>* const contexts = &findings->process.contexts;
    for (const Site& site : ledger.sites()) {
      if (site.key.kind != schema::CONTEXT) continue;
      const auto first = first_.find({site.key.device, site.key.stack});
      if (first == first_.end()) continue;
      ReportContext& context = contexts->emplace_back();
      context.device = site.key.device.value();
      context.made = site.allocations;
      context.live = site.live_objects;
      const Scope* const device = LeadingScope(ledger, site.key.device);
      const double there = device == nullptr ? 0 : static_cast<double>(device->peak);
      context.idle = there <= kWorks * static_cast<double>(most);
      const Scope* const driver = ScopeOfDevice(ledger, site.key.device);
      if (driver != nullptr && driver->outside > 0 && live[site.key.device] > 0) {
        context.at_most_bytes = driver->outside / live[site.key.device];
      }
      const auto thread = threads.find(analysis_.trace().threads()[first->second.slot].thread);
      if (thread != threads.end() && thread->second.name != program) context.thread = thread->second.name;
      context.seconds = analysis_.trace().clock().Seconds(first->second.ticks);
      context.step = ReportedStep(analysis_.run(), first->second.step);
      context.frames = analysis_.shown().Frames(site.key.stack);
    }
    std::stable_sort(contexts->begin(), contexts->end(), [](const ReportContext& a, const ReportContext& b) {
      return a.idle != b.idle ? a.idle : a.seconds < b.seconds;
    });
  }

 private:
  struct First {
    ThreadSlot slot;
    uint64_t ticks = 0;
    uint32_t step = 0;
  };

  ProcessAnalysis& analysis_;
  const Ledger* ledger_ = nullptr;
  std::map<std::pair<DeviceIndex, StackIndex>, First> first_;
};

}  // namespace

std::unique_ptr<Collector> MakeContextFindings(ProcessAnalysis* analysis) {
  return std::make_unique<ContextFindings>(analysis);
}

}  // namespace vramtrack
