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

// The identity of an allocation site: one kind, one device (or the host) and one call stack.
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
  uint32_t scope = kNoScope;       // the scope whose total it counts to, an index into Ledger::scopes()
  uint32_t peak_scope = kNoScope;  // the scope of its device, whose peak bytes_at_peak refers to
  uint32_t peak_epoch = 0;         // epoch of peak_scope when bytes_at_peak was noted; see Ledger
  uint64_t live_bytes = 0, live_objects = 0;
  uint64_t bytes_at_peak = 0;
  uint64_t segments = 0;  // number of its allocations that were segments of a framework's allocator
  uint64_t segment_bytes = 0, segment_bytes_at_peak = 0;  // parts of live_bytes and bytes_at_peak
  uint64_t kept_for_graphs = 0;  // bytes of its segments in CUDA graphs' private pools that no live block is in
  uint64_t in_graph_pools = 0;   // number of its blocks in segments of a CUDA graph's private pool

  // Notes the site's bytes at the peak. Must be called before its first change after the peak was raised.
  void NotePeak(uint32_t epoch) {
    peak_epoch = epoch;
    bytes_at_peak = live_bytes;
    segment_bytes_at_peak = segment_bytes;
  }
  uint64_t allocations = 0, frees = 0, bytes_allocated = 0;
};

using Sites = IndexedVector<SiteIndex, Site>;

// Returns whether at least half of the site's allocations are segments.
inline bool IsSegmentSite(const Site& site) { return site.segments > 0 && 2 * site.segments >= site.allocations; }

// Returns the level at which a report counts the site.
inline Level LevelOf(const Site& site) { return LevelOf(site.key.kind, IsSegmentSite(site)); }

// Returns whether most of the site's allocations are blocks in segments of CUDA graphs' private pools.
inline bool IsInGraphPools(const Site& site) {
  return site.in_graph_pools > 0 && 2 * site.in_graph_pools >= site.allocations;
}

// Numbers sites in the order of their first appearance. Thread-compatible.
class SiteTable {
 public:
  // Returns the index of the site, which is added if it is new. In the entry of a new site only `key` is set.
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
