// SPDX-License-Identifier: Apache-2.0
//
// Functions that the new run has under another name: names of one run only that stand at the same place of stacks which
// are the same otherwise.
#ifndef ANALYZER_DIFF_RENAME_INFERENCE_H_
#define ANALYZER_DIFF_RENAME_INFERENCE_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "analyzer/diff/site_keys.h"

namespace vramtrack {

// One of the sites without a partner.
struct RenameCandidate {
  const DiffSite* site;
  const SiteKeys* names;
};

// New names by old ones, as numbers of `table`; one to one. `in_base`, `in_next`: by number, whether any site of that
// run has the name.
std::map<uint32_t, uint32_t> InferRenames(const std::vector<RenameCandidate>& base,
                                          const std::vector<RenameCandidate>& next, const std::vector<bool>& in_base,
                                          const std::vector<bool>& in_next, const NameTable& table);

// 0 to 1: how alike two names are written, by the letters that one must change to get the other.
double NameSimilarity(const std::string& a, const std::string& b);

}  // namespace vramtrack

#endif  // ANALYZER_DIFF_RENAME_INFERENCE_H_
