// SPDX-License-Identifier: Apache-2.0
//
// References between objects that a walk has met and not followed yet. Objects lie all over memory, and so does what is
// known of them: a walk that looks at each at once waits for memory most of its time. Here a reference waits until some
// others have come, while its object, then the set's slot and then the entry for it are on their way to the cache.
#ifndef INTERPOSE_HOLDERS_PENDING_REFERENCES_H_
#define INTERPOSE_HOLDERS_PENDING_REFERENCES_H_

#include <cstddef>
#include <cstdint>

#include "interpose/holders/reached_objects.h"

namespace vramtrack::holders {

struct PendingReference {
  uint64_t object;
  Step step;
  uint32_t parent;     // entry of the object that refers
  uint16_t flags;      // of the entry
  uint16_t if_tensor;  // further flags if the object is a tensor
  uint8_t stage;
  uint8_t from_stage;  // of the object that refers
  bool skip;           // holds nothing
};

// First in, first out. Zero-initialised memory is an empty queue. Not thread-safe.
class PendingReferences {
 public:
  static constexpr size_t kMost = 24, kUntilSlot = 8, kUntilEntry = 16;

  bool empty() const { return first_ == end_; }
  bool full() const { return end_ - first_ == kMost; }
  // Whether a reference in the tree of a torch.nn.Module waits: these do not wait for others.
  bool early() const { return early_; }

  // Adds a reference; call it only if not full(). The object must be alive.
  void Add(const PendingReference& reference, bool early) {
    At(end_++) = reference;
    early_ |= early;
    __builtin_prefetch(reinterpret_cast<const void*>(reference.object));
  }
  // Takes the first one; call it only if not empty().
  PendingReference Take() {
    const PendingReference taken = At(first_++);
    if (first_ == end_) early_ = false;
    return taken;
  }
  // The reference that was added `before` others; null if there is none.
  PendingReference* Waiting(size_t before) { return end_ - first_ > before ? &At(end_ - 1 - before) : nullptr; }

 private:
  static constexpr size_t kRoom = 32;
  static_assert(kMost <= kRoom);
  PendingReference& At(size_t i) { return references_[i % kRoom]; }

  PendingReference references_[kRoom];
  size_t first_, end_;
  bool early_;
};

}  // namespace vramtrack::holders

#endif  // INTERPOSE_HOLDERS_PENDING_REFERENCES_H_
