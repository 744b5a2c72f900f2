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

// Tells during a second replay when the moment has come that is exported: for each device, and the host, its peak, or
// for all of them at once. To be the last of the observers: what the others know is of after the event.
// Thread-compatible.
class MomentWatch final : public ReplayObserver {
 public:
  static constexpr DeviceIndex kAll{UINT32_MAX - 1};  // instead of a device, or of the host

  // `first`: after its replay, with its failures. `step`: an index.
  MomentWatch(const Ledger& first, const std::vector<OutOfMemory>& failures, ExportOptions::At at, uint32_t step,
              std::function<void(DeviceIndex device)> come);

  void OnBegin(const Ledger& ledger) override { ledger_ = &ledger; }
  void OnAllocate(const ReplayAllocation& allocated) override;
  void OnFree(const ReplayAllocation& /*freed*/) override { LookAtTime(); }
  void OnFold(SiteIndex site, uint64_t objects, uint64_t bytes, bool born) override;
  void OnStepEnd(uint32_t step) override;
  void OnOtherEvent(const StreamEvent& /*event*/) override { LookAtTime(); }

  // Behind the replay: the end is a moment, too, and a failure may be the last event.
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
  // Changes of scopes by level and device that reached the peak, until they come.
  std::map<std::pair<Level, DeviceIndex>, uint64_t> awaited_;
};

}  // namespace vramtrack

#endif  // ANALYZER_EXPORT_MOMENT_WATCH_H_
