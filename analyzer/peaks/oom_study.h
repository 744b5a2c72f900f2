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

// Compares the live sites at a failed allocation with those at the same point of the last good step. The same point is
// where the failing code had made the same number of requests. If it had made none in that step, the step's peak is
// used, which is found to about a hundredth, or to a third if there are very many sites. Follows a second replay and
// visits all sites only at such points, so memory and time are bounded by sites, not by the trace. Thread-compatible.
class OomStudy final : public ReplayObserver {
 public:
  // A step's allocations are compared with those of this many steps before.
  static constexpr uint32_t kStepsBefore = 8;

  struct Change {
    SiteIndex site;
    uint64_t then, now;  // bytes live in the good step and at the failure
  };
  struct Finding {
    std::vector<std::pair<SiteIndex, uint64_t>> held;  // bytes live at the failure, by site; all sites of the device
    std::optional<uint32_t> compared_step;             // index of the good step
    bool same_point = false;                           // false: the step's peak was compared
    std::vector<Change> changes;                       // sites with more or fewer bytes than in the good step
    // Size of the step's allocations, relative to the size of the same sites' objects in the steps before; none if
    // these sites had allocated less than half of the step's bytes.
    std::optional<double> size_ratio;
  };

  // `first`: the first replay; `failures`: its failures, which must outlive it. `asking`: for each failure the sites
  // of the code that made the request.
  OomStudy(const Ledger& first, const std::vector<OutOfMemory>& failures, std::vector<std::vector<SiteIndex>> asking);

  void OnBegin(const Ledger& ledger) override;
  void OnAllocate(const ReplayAllocation& allocated) override {
    if (__builtin_expect(active_, 0)) Allocated(allocated.allocation);
  }
  void OnStepEnd(uint32_t step) override { BeginStep(step + 1); }
  void OnOtherEvent(const StreamEvent& event) override {
    if (event.operation == schema::FAIL) Failed(event);
  }

  // Returns one finding for each failure, in the same order.
  const std::vector<Finding>& findings() const { return findings_; }

 private:
  using Held = std::vector<std::pair<SiteIndex, uint64_t>>;  // site and bytes, sorted by site

  struct Snapshot {
    uint64_t asked = 0;  // requests of the code in that step, without the failing one
    Held held;
  };
  struct Case {
    const OutOfMemory* failure = nullptr;
    std::optional<uint32_t> good_step;
    std::vector<SiteIndex> asking;  // sites, sorted
    bool done = false;
    uint64_t asked = 0;  // requests in the current step
    uint64_t stride = 1;
    std::vector<Snapshot> snapshots;  // of the good step
    uint64_t peak = 0;
    Held at_peak;                                                    // of the good step
    std::map<SiteIndex, std::pair<uint64_t, uint64_t>> before, now;  // objects and bytes allocated, by site
  };

  void BeginStep(uint32_t step);
  void Allocated(const LiveAllocation& allocation);
  void Failed(const StreamEvent& event);
  void Compare(const Case& study, Finding* finding) const;
  bool IsOfDevice(const Site& site, DeviceIndex device) const;
  // Returns the bytes live on a device by site. `less`: a site, and bytes of it to leave out.
  Held HeldOn(DeviceIndex device, std::pair<SiteIndex, uint64_t> less = {}) const;

  const Ledger* ledger_ = nullptr;
  std::vector<Case> cases_;
  std::vector<Finding> findings_;
  bool active_ = false;
};

}  // namespace vramtrack

#endif  // ANALYZER_PEAKS_OOM_STUDY_H_
