// SPDX-License-Identifier: Apache-2.0
//
// Allocations that fail for lack of memory. A framework's allocator whose cudaMalloc fails gives back what it keeps and
// tries again; only when that is in vain as well has the job run out of memory, and then it is one failure, not three.
#ifndef ANALYZER_PEAKS_FAILURE_LOG_H_
#define ANALYZER_PEAKS_FAILURE_LOG_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "analyzer/base/indices.h"
#include "analyzer/ingest/trace.h"
#include "analyzer/ledger/ledger.h"

namespace vramtrack {

// An allocation that failed for lack of memory.
struct OutOfMemory {
  uint32_t step = 0;
  uint64_t ticks = 0;
  DeviceIndex device;
  StackIndex stack = kEmptyStack;
  uint64_t requested = 0;
  DeviceUsage usage;
  uint64_t outside = 0;
  // Of a device with a framework's level, at that moment.
  struct Framework {
    bool failed = false;              // its allocator gave up; otherwise a call of the driver failed
    uint64_t live = 0, reserved = 0;  // as the allocator itself told, if it did
    uint64_t largest_hole = 0;        // in its segments
    // The same in those of its small blocks, and in those of its large ones; none: they cannot be told apart.
    std::optional<uint64_t> small_hole, large_hole;
  };
  std::optional<Framework> framework;
  std::vector<std::pair<SiteIndex, uint64_t>> holders;  // site, bytes live then; the largest first
};

// Finds the failures of a replay, and who held the memory then. A failure costs a look at all sites and at what is
// live, any other event a comparison. Thread-compatible.
class FailureLog final : public ReplayObserver {
 public:
  static constexpr size_t kMaxFailures = 32;  // the first and the last, with their holders; others are only counted
  static constexpr size_t kMaxHolders = 16;

  // `trace` must outlive it.
  explicit FailureLog(const Trace& trace) : trace_(trace) {}

  // After the replay, by time.
  const std::vector<OutOfMemory>& all() const { return failures_; }
  uint64_t count() const { return count_; }

  unsigned frequent_calls() const override { return kAllocations; }
  void OnBegin(const Ledger& ledger) override;
  void OnAllocate(const ReplayAllocation& /*allocated*/) override {
    if (__builtin_expect(!pending_.empty(), 0)) ForgetRetry(ledger_->present_event());
  }
  void OnOtherEvent(const StreamEvent& event) override;
  void OnEnd() override;

 private:
  struct Told {
    ThreadSlot slot;
    DeviceIndex device;
    uint64_t given_out = 0, reserved = 0;
  };

  const Scope* ScopeOf(Level level, DeviceIndex device) const;
  void Fail(const StreamEvent& event);
  void ForgetRetry(const StreamEvent* event);
  void Add(OutOfMemory failed);
  void FindHolders(const Scope& driver, OutOfMemory* failed) const;
  OutOfMemory::Framework FrameworkAt(const Scope& framework) const;

  const Trace& trace_;
  const Ledger* ledger_ = nullptr;
  std::vector<OutOfMemory> failures_;
  uint64_t count_ = 0;
  // By slot: calls of the driver that failed where a framework's allocator may try again, or give up itself.
  std::map<ThreadSlot, std::pair<uint32_t, OutOfMemory>> pending_;  // kind, and what failed
  Told told_;                                                       // what a framework's allocator told last
};

}  // namespace vramtrack

#endif  // ANALYZER_PEAKS_FAILURE_LOG_H_
