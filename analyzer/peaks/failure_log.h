// SPDX-License-Identifier: Apache-2.0
//
// Finds allocations that fail because memory is exhausted. If cudaMalloc fails for a framework's allocator, the
// allocator releases its cached memory and retries. Only if the retry fails as well is the job out of memory, and that
// counts as one failure, not three.
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

// An allocation that failed because memory was exhausted.
struct OutOfMemory {
  uint32_t step = 0;
  uint64_t ticks = 0;
  uint64_t allocations = 0;  // of the process until then
  DeviceIndex device;
  StackIndex stack = kEmptyStack;
  uint64_t requested = 0;
  DeviceUsage usage;
  uint64_t outside = 0;
  // Only for a device with a framework's level: its state at the failure.
  struct Framework {
    bool failed = false;              // the framework's allocator failed; otherwise a driver call did
    uint64_t live = 0, reserved = 0;  // as reported by the allocator itself, if it did
    uint64_t largest_hole = 0;        // largest free piece in its segments
    // The same in segments of small blocks, and in those of large ones; none if they cannot be distinguished.
    std::optional<uint64_t> small_hole, large_hole;
  };
  std::optional<Framework> framework;
  std::vector<std::pair<SiteIndex, uint64_t>> holders;  // live sites with their bytes at the failure, largest first
};

// Finds the failures of a replay and the sites live at each. A failure costs a pass over all sites and live
// allocations, any other event one addition and one comparison. Thread-compatible.
class FailureLog final : public ReplayObserver {
 public:
  // the first and the last ones are kept with their live sites; others are only counted
  static constexpr size_t kMaxFailures = 32;
  static constexpr size_t kMaxHolders = 16;

  // `trace` must outlive it.
  explicit FailureLog(const Trace& trace) : trace_(trace) {}

  // Returns the failures by time, after the replay.
  const std::vector<OutOfMemory>& all() const { return all_.failures; }
  uint64_t count() const { return all_.count; }
  // Returns the number of allocations in the whole replay.
  uint64_t allocations() const { return allocations_; }

  unsigned frequent_calls() const override { return kAllocations; }
  void OnBegin(const Ledger& ledger) override;
  void OnAllocate(const ReplayAllocation& /*allocated*/) override {
    ++allocations_;
    if (__builtin_expect(!pending_.empty(), 0)) ForgetRetry(ledger_->present_event());
  }
  void OnOtherEvent(const StreamEvent& event) override;
  void OnEnd() override;

 private:
  struct Failures {
    std::vector<OutOfMemory> failures;  // by time
    uint64_t count = 0;

    void Add(OutOfMemory failed);
  };
  struct FrameworkFigures {
    ThreadSlot slot;
    DeviceIndex device;
    uint64_t given_out = 0, reserved = 0;
  };

  const Scope* ScopeOf(Level level, DeviceIndex device) const;
  void Fail(const StreamEvent& event);
  void ForgetRetry(const StreamEvent* event);
  void FindHolders(const Scope& driver, OutOfMemory* failed) const;
  OutOfMemory::Framework FrameworkAt(const Scope& framework) const;

  const Trace& trace_;
  const Ledger* ledger_ = nullptr;
  uint64_t allocations_ = 0;
  Failures sure_, all_;  // without those that a retry may still undo; with them, after the replay
  // By slot: failed driver calls after which a framework's allocator may retry, or fail itself.
  std::map<ThreadSlot, std::pair<uint32_t, OutOfMemory>> pending_;  // kind and failure
  FrameworkFigures reported_;  // the last figures that a framework's allocator reported
};

}  // namespace vramtrack

#endif  // ANALYZER_PEAKS_FAILURE_LOG_H_
