// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_PEAKS_SITE_KEYS_H_
#define ANALYZER_PEAKS_SITE_KEYS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "analyzer/base/indices.h"

namespace vramtrack {

// Counts keys by site, in order to say which one most of a site's objects have. Memory: `most` keys for each site;
// further ones are counted without their key. Thread-compatible.
class SiteKeys {
 public:
  struct Most {
    uint32_t key = 0;
    double share = 0;  // of all that was counted for the sites, 0 to 1
  };

  explicit SiteKeys(size_t most) : most_(most) {}

  void Count(SiteIndex site, uint32_t key) {
    sites_.GrowTo(site);
    Entry& entry = sites_[site];
    for (auto& [known, objects] : entry.objects) {
      if (known != key) continue;
      ++objects;
      return;
    }
    if (entry.objects.size() == most_) {
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

  const size_t most_;
  IndexedVector<SiteIndex, Entry> sites_;
};

}  // namespace vramtrack

#endif  // ANALYZER_PEAKS_SITE_KEYS_H_
