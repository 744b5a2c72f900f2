// SPDX-License-Identifier: Apache-2.0
//
// What ran on the devices, step by step, and what follows for memory: records of kernels carry no addresses, but what
// nothing ran behind cannot have been used any more.
#ifndef ANALYZER_CUPTI_DEVICE_USE_H_
#define ANALYZER_CUPTI_DEVICE_USE_H_

#include <array>
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
#include "analyzer/steps/gap_histogram.h"

namespace vramtrack {

// Follows a replay; its results are complete once Finish was called. Memory is bounded by steps and by what is live of
// the sites that were asked for, not by records. Thread-compatible.
class DeviceUse : public ReplayObserver {
 public:
  enum Kind : uint8_t { kKernel, kCopy, kFill, kGraph };
  static constexpr size_t kKinds = 4;
  struct Executions {
    uint64_t count = 0, busy_ns = 0;  // busy: the sum of what each took
  };
  struct Work {
    std::array<Executions, kKinds> of;
    uint64_t busy_ns = 0;  // in which anything ran
  };
  struct DeviceWork {
    Work all;
    std::vector<Work> steps;  // complete ones; what a step has is what began to run in it
  };

  // How late what a group's sites allocated can have been used.
  struct LastUse {
    uint64_t objects = 0;  // whose end it is about: the free, or the end of the trace
    uint64_t ticks = 0;    // the latest of them
    uint32_t step = 0;
    double idle_ticks = 0;  // from then to the end, the median of the objects
  };
  // The kernel that was the first to begin behind an allocation.
  struct FirstKernel {
    std::string name;  // as CUPTI has it, mangled
    double share = 0;  // of the allocations
  };

  // `groups`: sites to follow, those of one group together.
  DeviceUse(const Trace& trace, const std::vector<std::vector<SiteIndex>>& groups);

  void OnBegin(const Ledger& ledger) override { ledger_ = &ledger; }
  void OnAllocate(const ReplayAllocation& allocated) override;
  void OnFree(const ReplayAllocation& freed) override;
  void OnStepEnd(uint32_t step) override;

  // Behind the replay.
  void Finish();

  // By device; empty where no such records were asked for.
  const std::map<DeviceIndex, DeviceWork>& work() const { return work_; }
  // None where it would not be certain: without the records of all that can use memory, where some are missing behind
  // it, and for memory that the processor can use as well. And where nothing lies between it and the end worth a word:
  // less than a step, or, without steps, than a hundredth of the run.
  std::optional<LastUse> LastUseOf(size_t group) const;
  // None unless it is the same behind nine of ten allocations, each before the group's next one, and there were some.
  std::optional<FirstKernel> FirstKernelOf(size_t group) const;

 private:
  using Name = AllocationName;
  // More names behind one group's allocations than this are no nine tenths.
  static constexpr size_t kMostKernels = 16;

  struct Birth {
    uint64_t ticks = 0;
    uint32_t step = 0, group = 0;
  };
  struct Followed {
    SiteIndex site;  // one of them
    uint64_t allocations = 0, first_ticks = 0;
    bool waits = false;                    // for a kernel behind its latest allocation
    std::map<uint32_t, uint64_t> kernels;  // by text
    GapHistogram idle;
    LastUse last;
  };

  void ReadUntil(uint64_t ticks);
  void Execute(const ActivityRecord& record, Kind kind);
  void NoteEnd(const Birth& birth, uint64_t end);
  void CountStep();
  double WorthAWord() const;

  const Trace& trace_;
  ActivityStream stream_;
  const Ledger* ledger_ = nullptr;
  bool has_record_ = false;
  ActivityRecord record_;
  uint64_t record_ticks_ = 0, first_record_ticks_ = 0;
  bool all_asked_ = false;  // for kernels, copies and fills
  uint64_t last_end_ = 0;   // ticks; of all that ran so far, on any device
  uint32_t last_step_ = 0;  // in which that began
  uint64_t end_ticks_ = 0;  // of the trace
  std::map<DeviceIndex, DeviceWork> work_;
  std::map<DeviceIndex, Work> step_;            // the present one, by device
  std::map<DeviceIndex, uint64_t> busy_until_;  // by device, ns of CUPTI's clock
  std::vector<Followed> followed_;              // by group
  absl::flat_hash_map<SiteIndex, uint32_t> group_of_site_;
  absl::flat_hash_map<Name, Birth> births_;               // of what is live of the groups
  std::map<DeviceIndex, std::vector<uint32_t>> waiting_;  // groups that wait for a kernel
};

}  // namespace vramtrack

#endif  // ANALYZER_CUPTI_DEVICE_USE_H_
