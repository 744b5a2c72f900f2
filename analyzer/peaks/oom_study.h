// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_PEAKS_OOM_STUDY_H_
#define ANALYZER_PEAKS_OOM_STUDY_H_

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "analyzer/base/indices.h"
#include "analyzer/ledger/ledger.h"
#include "analyzer/peaks/failure_log.h"

namespace vramtrack {

// What was different when an allocation failed: who held how much then, and who at the same point of the last step that
// went well. The same point is where the place that asked in vain had asked as often; where it had not asked in that
// step, the step's peak counts instead (to a hundredth). Follows a second replay; looks at all sites only at such
// points, so its memory and time are bounded by sites, not by the trace. Thread-compatible.
class OomStudy final : public ReplayObserver {
 public:
  // A step's allocations are compared with those of this many steps before.
  static constexpr uint32_t kStepsBefore = 8;

  struct Change {
    SiteIndex site;
    uint64_t then, now;  // bytes live
  };
  struct Finding {
    std::vector<std::pair<SiteIndex, uint64_t>> held;  // by site: bytes live at the failure; all of the device's
    std::optional<uint32_t> compared_step;             // index of the step
    bool same_point = false;                           // otherwise its peak
    std::vector<Change> changes;                       // sites that hold more or less than then
    // How large what the step had allocated was, over what the same sites' objects measured in the steps before; none
    // where these sites had allocated less than half of it.
    std::optional<double> size_ratio;
  };

  // `first`: the first replay, and its `failures`, which must outlive it. `asking`: for each of them the sites of the
  // place that asked.
  OomStudy(const Ledger& first, const std::vector<OutOfMemory>& failures, std::vector<std::vector<SiteIndex>> asking);

  void OnBegin(const Ledger& ledger) override;
  void OnAllocate(const ReplayAllocation& allocated) override {
    if (__builtin_expect(active_, 0)) Allocated(allocated.allocation);
  }
  void OnStepEnd(uint32_t step) override { BeginStep(step + 1); }
  void OnOtherEvent(const StreamEvent& event) override {
    if (event.operation == schema::FAIL) Failed(event);
  }

  // As the failures of the first replay.
  const std::vector<Finding>& findings() const { return findings_; }

 private:
  using Held = std::vector<std::pair<SiteIndex, uint64_t>>;  // site, bytes; by site

  struct Snapshot {
    uint64_t asked = 0;  // how often the place had asked in that step, without the request itself
    Held held;
  };
  struct Case {
    const OutOfMemory* failure = nullptr;
    std::optional<uint32_t> good_step;
    std::vector<SiteIndex> asking;  // sites, in order
    bool done = false;
    uint64_t asked = 0;  // in the present step
    uint64_t stride = 1;
    std::vector<Snapshot> snapshots;  // of the good step
    uint64_t peak = 0;
    Held at_peak;                                                    // of the good step
    std::map<SiteIndex, std::pair<uint64_t, uint64_t>> before, now;  // site: objects, bytes allocated
  };

  void BeginStep(uint32_t step);
  void Allocated(const LiveAllocation& allocation);
  void Failed(const StreamEvent& event);
  void Compare(const Case& study, Finding* finding) const;
  bool IsOfDevice(const Site& site, DeviceIndex device) const;
  // `less`: a site and bytes of it that are not counted.
  Held HeldOn(DeviceIndex device, std::pair<SiteIndex, uint64_t> less = {}) const;

  const Ledger* ledger_ = nullptr;
  std::vector<Case> cases_;
  std::vector<Finding> findings_;
  bool active_ = false;
};

}  // namespace vramtrack

#endif  // ANALYZER_PEAKS_OOM_STUDY_H_
