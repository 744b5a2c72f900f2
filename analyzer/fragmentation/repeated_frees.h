// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_FRAGMENTATION_REPEATED_FREES_H_
#define ANALYZER_FRAGMENTATION_REPEATED_FREES_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <tuple>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "analyzer/ingest/trace.h"
#include "analyzer/ledger/ledger.h"

namespace vramtrack {

// Finds calls that release memory or a mapping that was released before. The stack of a call is that of the last mark
// of its thread that says where memory is released; empty if there is none. Follows a replay. Thread-compatible.
class RepeatedFrees final : public ReplayObserver {
 public:
  // `trace` must outlive it.
  explicit RepeatedFrees(const Trace& trace) : trace_(trace) {}

  struct Key {
    uint32_t kind;
    DeviceIndex device;
    StackIndex stack, first_stack;
    bool operator<(const Key& other) const {
      return std::tie(kind, device, stack, first_stack) <
             std::tie(other.kind, other.device, other.stack, other.first_stack);
    }
  };
  // How often, by what and where. At most kMaxPairs entries.
  const std::map<Key, uint64_t>& counts() const { return counts_; }

  void OnBegin(const Ledger& ledger) override { ledger_ = &ledger; }
  void OnAllocate(const ReplayAllocation& allocated) override {
    if (__builtin_expect(IsWatched(allocated.site.key.kind), 0)) {
      freed_.erase({allocated.site.key.kind, allocated.allocation.address()});
    }
  }
  void OnFree(const ReplayAllocation& freed) override {
    if (__builtin_expect(IsWatched(freed.site.key.kind), 0)) Freed(freed);
  }
  void OnOtherEvent(const StreamEvent& event) override;

 private:
  static constexpr size_t kMaxPairs = 1000, kMaxFreed = 1 << 16;

  static bool IsWatched(uint32_t kind) {
    return kind == schema::DEVICE || kind == schema::PHYSICAL || kind == schema::MAPPING;
  }
  void Freed(const ReplayAllocation& freed);
  StackIndex StackOf(ThreadSlot slot) const {
    const auto found = stacks_.find(slot);
    return found == stacks_.end() ? kEmptyStack : found->second;
  }

  const Trace& trace_;
  const Ledger* ledger_ = nullptr;
  std::map<ThreadSlot, StackIndex> stacks_;                               // where each thread releases memory
  absl::flat_hash_map<std::pair<uint32_t, uint64_t>, StackIndex> freed_;  // by kind and address
  std::map<Key, uint64_t> counts_;
};

}  // namespace vramtrack

#endif  // ANALYZER_FRAGMENTATION_REPEATED_FREES_H_
