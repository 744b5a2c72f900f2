// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_FINDINGS_CORE_UNSEEN_BLOCKS_H_
#define ANALYZER_FINDINGS_CORE_UNSEEN_BLOCKS_H_

#include <string>
#include <vector>

#include "analyzer/findings/core/process_analysis.h"

namespace vramtrack {

// Returns a sentence for each library that holds much of a device in a few pieces which it divides itself, so that its
// blocks are not seen: a run whose other sites do not leak is not clean then. Each names the setting that shows the
// blocks. For libraries that are known to do so: docs/frameworks.md.
std::vector<std::string> UnseenBlocks(ProcessAnalysis* analysis);

}  // namespace vramtrack

#endif  // ANALYZER_FINDINGS_CORE_UNSEEN_BLOCKS_H_
