// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_HOLDERS_WALKED_BLOCKS_H_
#define ANALYZER_HOLDERS_WALKED_BLOCKS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "analyzer/base/indices.h"
#include "analyzer/ingest/holder_walks.h"
#include "analyzer/ledger/ledger.h"

namespace vramtrack {

// Blocks that were live at a walk and are alike.
struct HeldBlocks {
  SiteIndex site;
  HolderPathIndex path;     // none: the walk did not find what holds them
  uint32_t flags = 0;       // schema::HolderFlags
  uint32_t birth_step = 0;  // index of the step in which they were allocated
  uint64_t bytes = 0, objects = 0;
};

// Blocks of one shape.
struct HeldShape {
  uint32_t shape = 0;  // as in WalkedBlock
  DeviceIndex device;
  uint64_t bytes = 0, objects = 0;
};

struct BlocksAtWalk {
  uint32_t step = 0;              // index of the step of the walk
  std::vector<HeldBlocks> held;   // by site, then by path
  std::vector<HeldShape> shapes;  // by device, then by shape
  uint64_t seen = 0, absent = 0;  // addresses of the walk at which something was live, or nothing
};

// Looks up the blocks of each walk among the allocations that were live when the walk ended. Blocks of a framework's
// allocator come first, and where none begins, other device memory does. What was allocated while a walk went on is
// left out, because the walk may have met an earlier block at its address. A walk costs a pass over all live
// allocations, and memory is bounded by them and the walks. Thread-compatible.
class WalkedBlocks final : public ReplayObserver {
 public:
  // `walks` must outlive it.
  explicit WalkedBlocks(const HolderWalks& walks) : walks_(walks) { at_.reserve(walks.all().size()); }

  void OnBegin(const Ledger& ledger) override;
  void OnAllocate(const ReplayAllocation& allocated) override {
    if (__builtin_expect(at_.size() == walks_.all().size(), 0)) return;
    Allocated(allocated);
  }
  void OnFree(const ReplayAllocation& freed) override {
    if (__builtin_expect(at_.size() == walks_.all().size(), 0)) return;
    Reach(nullptr, &freed.allocation);
  }
  void OnOtherEvent(const StreamEvent& /*event*/) override { Reach(nullptr, nullptr); }
  void OnEnd() override;

  // Returns one entry for each of walks.all(), after the replay.
  const std::vector<BlocksAtWalk>& at() const { return at_; }
  // Returns whether all walks had ended before the replay did, so that no later event can change what is known of them.
  bool settled() const { return settled_; }

 private:
  void Allocated(const ReplayAllocation& allocated);
  // Looks up the walks that ended before the present event, which allocated or freed this.
  void Reach(const LiveAllocation* allocated, const LiveAllocation* freed);
  void LookUp(const HolderWalk& walk, const LiveAllocation* allocated, const LiveAllocation* freed);

  const HolderWalks& walks_;
  const Ledger* ledger_ = nullptr;
  std::vector<BlocksAtWalk> at_;
  bool settled_ = true;
  uint32_t step_ = 0;                          // before the present event
  absl::flat_hash_set<uint64_t> during_walk_;  // addresses that were allocated since the next walk began
};

}  // namespace vramtrack

#endif  // ANALYZER_HOLDERS_WALKED_BLOCKS_H_
