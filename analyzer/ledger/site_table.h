// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_LEDGER_SITE_TABLE_H_
#define ANALYZER_LEDGER_SITE_TABLE_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "analyzer/base/indices.h"
#include "analyzer/ledger/kind.h"

namespace vramtrack {

// One line of code with all that called it: allocations of one kind, on one device (or the host), with one stack.
struct SiteKey {
  uint32_t kind;
  DeviceIndex device;
  StackIndex stack;

  bool operator==(const SiteKey& other) const {
    return kind == other.kind && device == other.device && stack == other.stack;
  }
  template <typename H>
  friend H AbslHashValue(H h, const SiteKey& key) {
    return H::combine(std::move(h), key.kind, key.device, key.stack);
  }
};

struct Site {
  static constexpr uint32_t kNoScope = UINT32_MAX;

  SiteKey key;
  uint32_t scope = kNoScope;       // whose total it counts to, see ledger.h
  uint32_t peak_scope = kNoScope;  // whose peak bytes_at_peak is about: that of its device
  uint32_t peak_epoch = 0;         // of peak_scope, when bytes_at_peak was noted; see Ledger
  uint64_t live_bytes = 0, live_objects = 0;
  uint64_t bytes_at_peak = 0;
  uint64_t segments = 0;  // of its allocations, those that were segments of a framework's allocator
  uint64_t segment_bytes = 0, segment_bytes_at_peak = 0;  // parts of live_bytes and bytes_at_peak
  uint64_t in_graph_pools = 0;  // of its allocations, blocks in segments of a CUDA graph's private pool

  // Before its first change since the peak was raised.
  void NotePeak(uint32_t epoch) {
    peak_epoch = epoch;
    bytes_at_peak = live_bytes;
    segment_bytes_at_peak = segment_bytes;
  }
  uint64_t allocations = 0, frees = 0, bytes_allocated = 0;
};

using Sites = IndexedVector<SiteIndex, Site>;

// Numbers sites as they appear. Thread-compatible.
class SiteTable {
 public:
  // The index of the site; the entry of a new one has only its key.
  SiteIndex Find(const SiteKey& key, bool* is_new) {
    const auto [found, inserted] = by_key_.try_emplace(key, sites_.next_index());
    *is_new = inserted;
    if (inserted) {
      sites_.emplace_back();
      sites_.back().key = key;
    }
    return found->second;
  }

  Sites& sites() { return sites_; }
  const Sites& sites() const { return sites_; }

 private:
  absl::flat_hash_map<SiteKey, SiteIndex> by_key_;
  Sites sites_;
};

}  // namespace vramtrack

#endif  // ANALYZER_LEDGER_SITE_TABLE_H_
