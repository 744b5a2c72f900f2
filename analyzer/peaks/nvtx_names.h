// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_PEAKS_NVTX_NAMES_H_
#define ANALYZER_PEAKS_NVTX_NAMES_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/base/indices.h"
#include "analyzer/ingest/trace.h"
#include "analyzer/ledger/ledger.h"
#include "analyzer/ledger/replay_observer.h"

namespace vramtrack {

// Counts keys by site, in order to say which one most of a site's objects have. Memory: kMostKeys for each site;
// further ones are counted without their key. Thread-compatible.
class SiteKeyCounts {
 public:
  struct Most {
    uint32_t key = 0;
    double share = 0;  // of all that was counted for the sites, 0 to 1
  };

  void Count(SiteIndex site, uint32_t key) {
    sites_.GrowTo(site);
    Entry& entry = sites_[site];
    for (auto& [known, objects] : entry.objects) {
      if (known != key) continue;
      ++objects;
      return;
    }
    if (entry.objects.size() == kMostKeys) {
      ++entry.others;
    } else {
      entry.objects.emplace_back(key, 1);
    }
  }
  // Counts an object that has no key.
  void CountWithoutKey(SiteIndex site) {
    sites_.GrowTo(site);
    ++sites_[site].others;
  }

  // Returns the most frequent key of these sites together, the smallest of several; nullopt without any.
  std::optional<Most> MostFrequent(const std::vector<SiteIndex>& sites) const {
    std::map<uint32_t, uint64_t> objects;
    uint64_t all = 0;
    for (const SiteIndex site : sites) {
      if (!sites_.Has(site)) continue;
      for (const auto& [key, count] : sites_[site].objects) {
        objects[key] += count;
        all += count;
      }
      all += sites_[site].others;
    }
    const auto most = std::max_element(objects.begin(), objects.end(),
                                       [](const auto& a, const auto& b) { return a.second < b.second; });
    if (most == objects.end()) return std::nullopt;
    return Most{most->first, static_cast<double>(most->second) / static_cast<double>(all)};
  }

 private:
  struct Entry {
    std::vector<std::pair<uint32_t, uint64_t>> objects;
    uint64_t others = 0;
  };

  static constexpr size_t kMostKeys = 16;
  IndexedVector<SiteIndex, Entry> sites_;
};

// Finds which NVTX ranges are open while each site allocates, and where they were opened. Calls of a tf.function are
// ranges, too. A thread's ranges are those that it opened. For a thread without any, such as one that computes
// gradients, the ranges of the only thread that has some count; while several have, none do. Ranges of several domains
// nest in the order in which they were opened. Memory: bounded by sites and by kMostPaths. Thread-compatible.
class NvtxRanges final : public ReplayObserver {
 public:
  struct Range {
    std::string path;                // names of the open ranges, the outermost first: "epoch # > evaluate"
    double share = 0;                // of the site's objects, 0 to 1
    std::vector<StackIndex> opened;  // where the innermost one was opened; empty if at too many places
  };

  explicit NvtxRanges(const Trace& trace);

  unsigned frequent_calls() const override { return kAllocations; }
  void OnAllocate(const ReplayAllocation& allocated) override;
  void OnOtherEvent(const StreamEvent& event) override;

  // Returns the ranges in which these sites allocated most objects; nullopt if that was in none, or if the trace does
  // not tell. Paths that cannot be shown in full begin with "...".
  std::optional<Range> Of(const std::vector<SiteIndex>& sites) const;

 private:
  // Of open ranges. The first one, of no range, is kNoRange.
  using Path = uint32_t;
  static constexpr Path kNoRange = 0, kUnknown = UINT32_MAX;
  static constexpr size_t kMostPaths = 65536, kDeepest = 256, kShown = 4, kMostPlaces = 8;

  struct Open {
    uint32_t domain = 0;
    uint64_t started = 0;  // number of a started range, 0 for a pushed one
    uint32_t name = 0;
    Path path = kNoRange;  // with this range as the innermost one
  };
  struct Thread {
    std::vector<Open> open;
    uint64_t too_deep = 0;  // ranges that are open and not in `open`
    Path path = kNoRange;
  };
  struct Known {
    Path outer = kNoRange;
    uint32_t name = 0;               // of the innermost range
    std::vector<StackIndex> opened;  // at most kMostPlaces
    bool more = false;               // it was opened at other places, too
  };

  void Push(ThreadSlot slot, const Open& range, StackIndex stack);
  void Close(ThreadSlot slot, size_t open);
  void NoteOpen(ThreadSlot slot);
  Path PathOf(Path outer, uint32_t name);
  std::string Text(Path path) const;

  const Trace& trace_;
  std::vector<Known> paths_;
  std::map<std::pair<Path, uint32_t>, Path> path_index_;
  IndexedVector<ThreadSlot, Thread> threads_;
  std::set<ThreadSlot> with_ranges_;  // threads that have open ranges
  SiteKeyCounts sites_;
};

// Counts the names that a program gives to its memory (nvtxMemRegionsName), by site. Thread-compatible.
class MemoryNames final : public ReplayObserver {
 public:
  struct Name {
    std::string text;
    double share = 0;  // of the sites' objects that have a name, 0 to 1
  };

  explicit MemoryNames(const Trace& trace) : trace_(trace) {}

  unsigned frequent_calls() const override { return 0; }
  void OnBegin(const Ledger& ledger) override { ledger_ = &ledger; }
  void OnOtherEvent(const StreamEvent& event) override;

  // Returns the most frequent name of the sites' objects; nullopt if none has one.
  std::optional<Name> Of(const std::vector<SiteIndex>& sites) const;

 private:
  const Trace& trace_;
  const Ledger* ledger_ = nullptr;
  SiteKeyCounts sites_;
};

}  // namespace vramtrack

#endif  // ANALYZER_PEAKS_NVTX_NAMES_H_
