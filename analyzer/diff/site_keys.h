// SPDX-License-Identifier: Apache-2.0
//
// The names of a site's frames as numbers, at two levels of detail, after renames.
#ifndef ANALYZER_DIFF_SITE_KEYS_H_
#define ANALYZER_DIFF_SITE_KEYS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "analyzer/profile/step_profile.h"

namespace vramtrack {

// Numbers texts in the order of first use. Thread-compatible.
class NameTable {
 public:
  uint32_t Number(const std::string& text);
  const std::string& Text(uint32_t number) const { return texts_[number]; }
  size_t size() const { return texts_.size(); }

 private:
  absl::flat_hash_map<std::string, uint32_t> numbers_;
  std::vector<std::string> texts_;
};

// Returns how differently two sites allocate: 0 if they are alike, 1 for twice as much of one figure. Differences of a
// few per cent count as 0.
double ShapeDistance(const ProfileSite& a, const ProfileSite& b);

struct SiteKeys {
  std::vector<uint32_t> exact;   // one for each frame: place and function with its template arguments
  std::vector<uint32_t> whole;   // likewise, without template arguments
  std::vector<uint32_t> folded;  // functions of the job's own code, with inlined functions folded into their callers
};

// Pairs (old, new) of functions, of classes or namespaces (by their full names or the last parts of these), or of
// files.
using RenameMap = std::vector<std::pair<std::string, std::string>>;

// Returns the frame after the first rename that matches it.
CanonicalFrame Renamed(const CanonicalFrame& frame, const RenameMap& renames);

// Returns "file:function", as in renames() and NameTable.
std::string WholeName(const CanonicalFrame& frame);

SiteKeys NamesOf(const ProfileSite& site, const RenameMap& renames, NameTable* table);

// Pairs up 0..base-1 and 0..next-1 one to one, the cheapest pairs first, and never at a cost above `most`. At equal
// cost, pairs at similar positions in their lists come first. In very long lists, only elements at the same position
// are paired.
std::vector<std::pair<size_t, size_t>> PairCheapest(size_t base, size_t next, double most,
                                                    const std::function<double(size_t, size_t)>& cost);

// Detects functions that the new run has under another name: names that exist in one run only, at the same place of
// stacks that are otherwise the same.

// A site without a partner.
struct RenameCandidate {
  const ProfileSite* site;
  const SiteKeys* names;
};

// Returns a one-to-one map from old to new names, as numbers of `table`. `in_base` and `in_next` say for each number
// whether any site of that run has the name.
std::map<uint32_t, uint32_t> InferRenames(const std::vector<RenameCandidate>& base,
                                          const std::vector<RenameCandidate>& next, const std::vector<bool>& in_base,
                                          const std::vector<bool>& in_next, const NameTable& table);

// Returns how similar two names are, from 0 to 1, by their edit distance.
double NameSimilarity(const std::string& a, const std::string& b);

}  // namespace vramtrack

#endif  // ANALYZER_DIFF_SITE_KEYS_H_
