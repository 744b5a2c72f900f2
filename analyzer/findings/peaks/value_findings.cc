// SPDX-License-Identifier: Apache-2.0
#include "analyzer/findings/peaks/peak_collectors.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "analyzer/findings/core/device_findings.h"
#include "analyzer/findings/core/growth_findings.h"
#include "analyzer/leaks/value_fit.h"
#include "analyzer/ledger/ledger.h"

namespace vramtrack {
namespace {

// More than a CUDA context takes, where the trace does not have it: with PyTorch on an H100 it is .6 GiB.
constexpr uint64_t kMostOfContext = 1 << 30;

// The most that can surely be live on the device; none: its size is not known.
std::optional<double> MostLive(const Scope& scope, const ReportDevice& device) {
  if (device.total_bytes == 0) return std::nullopt;
  const uint64_t total =
      device.total_bytes - std::min(device.total_bytes, device.asked_free_memory ? 0 : kMostOfContext);
  return std::max(0.0, BytesForLive(scope, total) - static_cast<double>(scope.peak_moment.usage.free_pinned));
}

// Describes how the peak of a step depends on the value that its mark carries.
class ValueFindings final : public Collector, public ReplayObserver {
 public:
  explicit ValueFindings(const ProcessAnalysis& analysis) : analysis_(analysis) {}

  const char* name() const override { return "memory by step value"; }
  void Prepare(Replay* detail) override { detail->observers.push_back(this); }
  // Requires that the devices are in the findings.
  void Describe(const Replay& /*replay*/, ProcessFindings* findings) override {
    const RunShape& run = analysis_.run();
    if (run.windows || values_.empty()) return;
    for (ReportDevice& device : findings->devices) {
      const Scope* scope = LeadingScope(analysis_.ledger(), DeviceIndex(device.index));
      if (scope == nullptr || scope->peak == 0) continue;
      std::vector<ValuedStep> steps;
      for (size_t step = run.warmup_end; step < std::min<size_t>(run.steps, values_.size()); ++step) {
        // Steps before the first use of the device have nothing to explain.
        if (values_[step] <= 0 || (steps.empty() && scope->ceilings[step] == 0)) continue;
        steps.push_back({static_cast<double>(step), values_[step], static_cast<double>(scope->ceilings[step])});
      }
      device.by_value = FitValues(std::move(steps), MostLive(*scope, device));
    }
  }

  unsigned frequent_calls() const override { return 0; }
  void OnBegin(const Ledger& ledger) override { ledger_ = &ledger; }

  // Only the mark that ends a step has the step's value, see vramtrack_step().
  void OnStepEnd(uint32_t step) override {
    const StreamEvent* event = ledger_->present_event();
    if (event == nullptr || event->operation != schema::STEP) return;
    if (event->slot != ledger_->steps().plan().mark_slot) return;
    double value;
    std::memcpy(&value, &event->value[1], sizeof value);
    if (!std::isfinite(value) || value <= 0) return;
    values_.resize(step + size_t{1}, 0);
    values_[step] = value;
  }

 private:
  const ProcessAnalysis& analysis_;
  const Ledger* ledger_ = nullptr;
  std::vector<double> values_;  // by step; 0 for a step without one
};

}  // namespace

std::unique_ptr<Collector> MakeValueFindings(const ProcessAnalysis& analysis) {
  return std::make_unique<ValueFindings>(analysis);
}

}  // namespace vramtrack
