// SPDX-License-Identifier: Apache-2.0
//
// Infers which segments serve the same requests. The allocator separates the free blocks of each stream and of each
// graph's private pool, but the event of a block names neither. As the allocator always takes the free block that fits
// best, a better one that it passed over belongs to another arena.
#ifndef ANALYZER_TORCH_ALLOCATOR_ARENAS_H_
#define ANALYZER_TORCH_ALLOCATOR_ARENAS_H_

#include <cstdint>
#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"

namespace vramtrack::torch_allocator {

// What a replay has found out about the arenas. Those of small and of large segments are numbered separately.
struct Arenas {
  absl::flat_hash_map<uint32_t, uint32_t> of_segment;  // segments in arenas other than 0, by ArenaGuess::Segment
  // The arenas that the allocator keeps when it releases memory, by the number of the first release for which this
  // holds.
  std::map<uint64_t, std::set<uint32_t>> kept_at_release;
  uint32_t count = 1;
  bool oldest_first = false;  // see Settings

  uint32_t Of(uint32_t segment) const {
    const auto found = of_segment.find(segment);
    return found == of_segment.end() ? 0 : found->second;
  }
};

// Infers the arenas segment by segment. Memory is bounded by the existing segments and by the pairs in different
// arenas. Thread-compatible.
class ArenaGuess {
 public:
  using Segment = uint32_t;

  // Adds a segment.
  Segment Add(bool small);
  // Records that a block was placed in the segment.
  void OnUse(Segment segment) { ++segments_.at(segment).uses; }
  // Records that a block was placed in `used` although `passed` had room that fits better: if the allocator prefers
  // the lowest address, if it prefers the oldest segment, or in both cases.
  void OnPassedOver(Segment used, Segment passed, bool if_lowest, bool if_oldest) {
    if (!if_lowest && !if_oldest) return;
    against_lowest_ += if_lowest && !if_oldest;
    against_oldest_ += if_oldest && !if_lowest;
    if (used != passed)
      NoteUnlike(used, passed, if_lowest && if_oldest ? Rule::kEither : if_lowest ? Rule::kLowest : Rule::kOldest);
  }
  void OnGone(Segment segment);
  // Records the entirely free segments that the allocator kept in its `release`th release of memory.
  void OnKept(uint64_t release, const std::vector<Segment>& kept);

  Arenas Finish() const;

 private:
  static constexpr size_t kMaxUnlike = 1 << 20;  // limit of the recorded pairs
  enum class Rule : uint8_t { kLowest, kOldest, kEither };

  struct State {
    bool small = false;
    bool kept = false;  // kept when other memory was released
    uint64_t uses = 0;
    bool is_unlike = false;  // another one that is known
  };

  void NoteUnlike(Segment used, Segment passed, Rule rule);

  absl::flat_hash_map<Segment, State> segments_;
  absl::flat_hash_set<std::tuple<Segment, Segment, Rule>> unlike_;  // with the lower number first
  uint64_t against_lowest_ = 0, against_oldest_ = 0;                // how often only one of the two rules was broken
  std::map<uint64_t, std::vector<Segment>> kept_;
  Segment next_ = 0;
};

}  // namespace vramtrack::torch_allocator

#endif  // ANALYZER_TORCH_ALLOCATOR_ARENAS_H_
