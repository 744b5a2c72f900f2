// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_FRAGMENTATION_TORCH_ALLOCATOR_LARGEST_PASS_H_
#define ANALYZER_FRAGMENTATION_TORCH_ALLOCATOR_LARGEST_PASS_H_

#include <cstdint>
#include <vector>

#include "analyzer/fragmentation/torch_allocator/arenas.h"

namespace vramtrack::torch_allocator {

// Records the requests and frees, in order, of the step with the most live bytes. Such a pass before all others
// allocates the segments that the largest shape needs. Thread-compatible.
class LargestPass {
 public:
  struct Event {
    uint32_t block = 0;  // a number that identifies the block while it is live
    uint64_t bytes = 0;  // 0 if the block is freed
    Name segment;        // the segment of the block
  };

  void Allocate(uint32_t block, uint64_t bytes, Name segment) { Add({block, bytes, segment}); }
  // Records a free. Blocks from before the step may be passed; readers must skip them.
  void Free(uint32_t block) { Add({block, 0, {}}); }

  // Returns the events; empty if nothing was recorded, or too much.
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
