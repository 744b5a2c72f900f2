// SPDX-License-Identifier: Apache-2.0
//
// Detects functions that the new run has under another name: names that exist in one run only, at the same place of
// stacks that are otherwise the same.
#ifndef ANALYZER_DIFF_RENAME_INFERENCE_H_
#define ANALYZER_DIFF_RENAME_INFERENCE_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "analyzer/diff/site_keys.h"

namespace vramtrack {

// A site without a partner.
struct RenameCandidate {
  const DiffSite* site;
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

#endif  // ANALYZER_DIFF_RENAME_INFERENCE_H_
