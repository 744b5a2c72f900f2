// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_FRAGMENTATION_TORCH_ALLOCATOR_LARGEST_PASS_H_
#define ANALYZER_FRAGMENTATION_TORCH_ALLOCATOR_LARGEST_PASS_H_

#include <cstdint>
#include <vector>

#include "analyzer/fragmentation/torch_allocator/arenas.h"

namespace vramtrack::torch_allocator {

// What the step in which most was live asked for and gave back, in order: one made before all others takes the segments
// that the largest shape needs. Thread-compatible.
class LargestPass {
 public:
  struct Event {
    uint32_t block = 0;  // a number that is its own while it lives
    uint64_t bytes = 0;  // 0: the block is given back
    Name segment;        // in which it lay
  };

  void Allocate(uint32_t block, uint64_t bytes, Name segment) { Add({block, bytes, segment}); }
  // Also of blocks from before the step, which are no part of it.
  void Free(uint32_t block) { Add({block, 0, {}}); }

  // None: nothing was recorded, or too much.
  const std::vector<Event>& events() const { return events_; }

 private:
  static constexpr size_t kMaxEvents = 200'000;

  void Add(const Event& event) {
    if (too_many_) return;
    events_.push_back(event);
    if (events_.size() < kMaxEvents) return;
    events_ = {};
    too_many_ = true;
  }

  std::vector<Event> events_;
  bool too_many_ = false;
};

}  // namespace vramtrack::torch_allocator

#endif  // ANALYZER_FRAGMENTATION_TORCH_ALLOCATOR_LARGEST_PASS_H_
