// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_EXPORT_SITE_COUNTS_H_
#define ANALYZER_EXPORT_SITE_COUNTS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "analyzer/export/export_options.h"
#include "analyzer/ledger/ledger.h"

namespace vramtrack {

// What a site allocated, and what of it is in use at the moment that is exported. Of the driver's memory that holds
// segments of a framework's allocator, the segments are counted apart.
struct SiteCounts {
  uint64_t alloc_objects = 0, alloc_bytes = 0;
  uint64_t inuse_objects = 0, inuse_bytes = 0;
  uint64_t inuse_segment_bytes = 0;  // part of inuse_bytes
};

// Counts during a second replay. Memory is bounded by sites. Thread-compatible.
class SiteCounter final : public ReplayObserver {
 public:
  // `first`: after its replay. `step` and `steps` are indices here, not the job's numbers.
  SiteCounter(const Ledger& first, ExportOptions::At at, uint32_t step,
              std::optional<std::pair<uint32_t, uint32_t>> steps);

  void OnBegin(const Ledger& ledger) override { ledger_ = &ledger; }
  void OnAllocate(const ReplayAllocation& allocated) override;
  void OnFree(const ReplayAllocation& freed) override;
  void OnFold(uint32_t site, uint64_t objects, uint64_t bytes, bool born) override;
  void OnStepEnd(uint32_t step) override;
  void OnOtherEvent(const StreamEvent& event) override;

  // By site, after the replay.
  std::vector<SiteCounts> Finish();

 private:
  // Of all devices and the host, or of those whose scopes reach their peak with this change.
  void TakeAll();
  void TakePeak(uint32_t site);
  void Take(uint32_t site);
  void CountAllocated(uint32_t site, uint64_t objects, uint64_t bytes);
  void LookAtTime();
  SiteCounts& Of(uint32_t site);

  const Ledger* ledger_ = nullptr;
  ExportOptions::At at_;
  uint32_t step_;
  std::optional<std::pair<uint32_t, uint32_t>> steps_;
  uint64_t oom_ticks_ = UINT64_MAX;
  bool taken_ = false;
  // Changes of scopes by level and device that reached the peak, until they come.
  std::map<std::pair<Level, uint32_t>, uint64_t> awaited_;
  std::vector<SiteCounts> counts_;
};

}  // namespace vramtrack

#endif  // ANALYZER_EXPORT_SITE_COUNTS_H_
