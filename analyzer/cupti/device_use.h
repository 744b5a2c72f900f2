// SPDX-License-Identifier: Apache-2.0
//
// Derives from what ran on the devices when memory was last used. Kernel records carry no addresses, but memory cannot
// have been used after the last execution on any device.
#ifndef ANALYZER_CUPTI_DEVICE_USE_H_
#define ANALYZER_CUPTI_DEVICE_USE_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "analyzer/base/indices.h"
#include "analyzer/cupti/activity_stream.h"
#include "analyzer/ledger/ledger.h"
#include "analyzer/steps/regular_gaps.h"

namespace vramtrack {

// Follows a replay; the results are complete after Finish. Memory is bounded by the live allocations of the watched
// sites, not by the number of records. Thread-compatible.
class DeviceUse : public ReplayObserver {
 public:
  // The latest time at which the allocations of a group can have been used.
  struct LastUse {
    uint64_t objects = 0;  // objects that were measured, each until its free or the end of the trace
    uint64_t ticks = 0;    // the latest use of any object
    uint32_t step = 0;
    double idle_ticks = 0;  // median over the objects of the time from the last use to the end
  };
  // The first kernel that began after an allocation.
  struct FirstKernel {
    std::string name;  // mangled, as CUPTI reports it
    double share = 0;  // share of the allocations, 0 to 1
  };

  // `groups`: the sites to follow; the sites of one group count together.
  DeviceUse(const Trace& trace, const std::vector<std::vector<SiteIndex>>& groups);

  void OnBegin(const Ledger& ledger) override { ledger_ = &ledger; }
  void OnAllocate(const ReplayAllocation& allocated) override;
  void OnFree(const ReplayAllocation& freed) override;
  void OnStepEnd(uint32_t /*step*/) override { ReadUntil(ledger_->last_ticks()); }

  // Completes the results; call it once, after the replay.
  void Finish();

  // Returns nothing if the answer is not certain: if kernels, copies and fills were not all recorded, if CUPTI records
  // were dropped or have a gap after the group's first allocation, or if the processor can use the memory as well.
  // Also returns nothing if the idle time is negligible: less than a step, or, without steps, less than a hundredth of
  // the run.
  std::optional<LastUse> LastUseOf(size_t group) const;
  // Returns the kernel that follows at least nine of ten allocations of the group, each before the group's next
  // allocation. Returns nothing if no kernel does, or if the group has fewer than five allocations.
  std::optional<FirstKernel> FirstKernelOf(size_t group) const;

 private:
  using Name = AllocationName;
  struct Birth {
    uint64_t ticks = 0;
    uint32_t step = 0, group = 0;
  };
  struct Followed {
    SiteIndex site;  // any site of the group
    uint64_t allocations = 0, first_ticks = 0;
    bool waits = false;                    // no kernel has begun since the latest allocation
    std::map<uint32_t, uint64_t> kernels;  // count by text id
    GapHistogram idle;
    LastUse last;
  };

  void ReadUntil(uint64_t ticks);
  void Execute(const ActivityRecord& record);
  void NoteEnd(const Birth& birth, uint64_t end);
  double WorthAWord() const;

  const Trace& trace_;
  ActivityStream stream_;
  const Ledger* ledger_ = nullptr;
  bool has_record_ = false;
  ActivityRecord record_;
  uint64_t record_ticks_ = 0, first_record_ticks_ = 0;
  bool all_asked_ = false;          // all that runs on devices was recorded: kernels, copies and fills
  uint64_t last_end_ = 0;           // ticks; latest end of anything that ran so far, on any device
  uint32_t last_step_ = 0;          // the step in which that execution began
  std::vector<Followed> followed_;  // by group
  absl::flat_hash_map<SiteIndex, uint32_t> group_of_site_;
  absl::flat_hash_map<Name, Birth> births_;               // live allocations of the groups
  std::map<DeviceIndex, std::vector<uint32_t>> waiting_;  // groups waiting for a kernel
};

}  // namespace vramtrack

#endif  // ANALYZER_CUPTI_DEVICE_USE_H_
