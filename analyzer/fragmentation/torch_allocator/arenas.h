// SPDX-License-Identifier: Apache-2.0
//
// Which segments serve the same requests. The allocator keeps the free blocks of each stream, and of each graph's
// private pool, apart; a block's event names neither. But it always takes the free block that fits best: one that
// would have fitted better and was passed over belongs to somebody else.
#ifndef ANALYZER_FRAGMENTATION_TORCH_ALLOCATOR_ARENAS_H_
#define ANALYZER_FRAGMENTATION_TORCH_ALLOCATOR_ARENAS_H_

#include <cstdint>
#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "analyzer/base/indices.h"

namespace vramtrack::torch_allocator {

// An allocation by slot and ordinal, see StreamEvent.
using Name = AllocationName;

// What a first replay has learnt, for a second one. Small segments and large ones are numbered apart.
struct Arenas {
  absl::flat_hash_map<Name, uint32_t> of_segment;     // only those that are not of arena 0
  absl::flat_hash_map<uint32_t, uint32_t> of_number;  // the same, by ArenaGuess::Segment
  // How often the allocator had given memory back, and the arenas that it left alone from then on.
  std::map<uint64_t, std::set<uint32_t>> kept_at_release;
  uint32_t count = 1;
  bool oldest_first = false;  // see Settings

  uint32_t Of(Name segment) const {
    const auto found = of_segment.find(segment);
    return found == of_segment.end() ? 0 : found->second;
  }
  uint32_t OfNumber(uint32_t segment) const {
    const auto found = of_number.find(segment);
    return found == of_number.end() ? 0 : found->second;
  }
};

// Learns them segment by segment. Memory is bounded by the segments that exist, and those that are unlike others.
// Thread-compatible.
class ArenaGuess {
 public:
  using Segment = uint32_t;

  // A new segment.
  Segment Add(Name name, bool small);
  // A block came to lie in it.
  void OnUse(Segment segment) { ++segments_.at(segment).uses; }
  // A block came to lie in `used` although `passed` had room that fits better: if the lowest address is taken, if the
  // oldest segment is, or either way.
  void OnPassedOver(Segment used, Segment passed, bool if_lowest, bool if_oldest) {
    if (!if_lowest && !if_oldest) return;
    against_lowest_ += if_lowest && !if_oldest;
    against_oldest_ += if_oldest && !if_lowest;
    const Rule rule = if_lowest && if_oldest ? Rule::kEither : if_lowest ? Rule::kLowest : Rule::kOldest;
    if (used == passed || IsNoted(used, passed, rule)) return;
    NoteUnlike(used, passed, rule);
  }
  void OnGone(Segment segment);
  // Of segments that are wholly free and were left alone when the allocator gave memory back for the `release`th time.
  void OnKept(uint64_t release, const std::vector<Segment>& kept);

  Arenas Finish() const;

 private:
  static constexpr size_t kMaxUnlike = 1 << 20;  // pairs
  enum class Rule : uint8_t { kLowest, kOldest, kEither };
  static constexpr Segment kNotedSegments = 1024;

  struct State {
    Name name;
    bool small = false;
    bool kept = false;  // left alone when memory was given back
    uint64_t uses = 0;
    std::vector<std::pair<Segment, Rule>> unlike;
  };

  bool IsNoted(Segment used, Segment passed, Rule rule) const {
    const std::vector<bool>& noted = noted_[static_cast<size_t>(rule)];
    return used < kNotedSegments && passed < kNotedSegments && !noted.empty() && noted[used * kNotedSegments + passed];
  }
  void NoteUnlike(Segment used, Segment passed, Rule rule);

  absl::flat_hash_map<Segment, State> segments_;
  absl::flat_hash_set<std::tuple<Segment, Segment, Rule>> unlike_;  // the lower number first
  // Pairs of the first segments that are in unlike_, as bits by rule: the same segments are passed over again and
  // again.
  std::vector<bool> noted_[3];
  uint64_t against_lowest_ = 0, against_oldest_ = 0;  // how often only one of the rules was broken
  std::map<uint64_t, std::vector<Segment>> kept_;
  Segment next_ = 0;
};

}  // namespace vramtrack::torch_allocator

#endif  // ANALYZER_FRAGMENTATION_TORCH_ALLOCATOR_ARENAS_H_
