// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_EXPORT_MOMENT_WATCH_H_
#define ANALYZER_EXPORT_MOMENT_WATCH_H_

#include <cstdint>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "analyzer/base/indices.h"
#include "analyzer/export/export_options.h"
#include "analyzer/ledger/ledger.h"
#include "analyzer/peaks/failure_log.h"

namespace vramtrack {

// Signals during a second replay when the exported moment is reached: the peak of each device and the host, or one
// moment for all of them. It must be the last observer, so that the others have already seen the event.
// Thread-compatible.
class MomentWatch final : public ReplayObserver {
 public:
  static constexpr DeviceIndex kAll{UINT32_MAX - 1};  // stands for all devices and the host

  // `first` is the ledger after its replay; `failures` are its failures. `step` is an index.
  MomentWatch(const Ledger& first, const std::vector<OutOfMemory>& failures, ExportOptions::At at, uint32_t step,
              std::function<void(DeviceIndex device)> come);

  void OnBegin(const Ledger& ledger) override { ledger_ = &ledger; }
  void OnAllocate(const ReplayAllocation& allocated) override;
  void OnFree(const ReplayAllocation& /*freed*/) override { LookAtTime(); }
  void OnFold(SiteIndex site, uint64_t objects, uint64_t bytes, bool born) override;
  void OnStepEnd(uint32_t step) override;
  void OnOtherEvent(const StreamEvent& /*event*/) override { LookAtTime(); }

  // Call this after the replay: the end is a moment, too, and a failure can be the last event.
  void Finish();

 private:
  void LookAtPeak(SiteIndex site);
  void LookAtTime();
  void Come();

  const Ledger* ledger_ = nullptr;
  ExportOptions::At at_;
  uint32_t step_;
  std::function<void(DeviceIndex)> come_;
  uint64_t oom_ticks_ = UINT64_MAX;
  bool has_come_ = false;
  // The number of the change that reaches the peak, by level and device. An entry is removed when its peak is reached.
  std::map<std::pair<Level, DeviceIndex>, uint64_t> awaited_;
};

}  // namespace vramtrack

#endif  // ANALYZER_EXPORT_MOMENT_WATCH_H_
