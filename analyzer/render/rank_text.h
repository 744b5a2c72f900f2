// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_RENDER_RANK_TEXT_H_
#define ANALYZER_RENDER_RANK_TEXT_H_

#include <cstddef>

#include "analyzer/render/page.h"
#include "analyzer/report.h"

namespace vramtrack {

// The ranks of a job side by side, and what tells some from the others, in a sentence for those that differ in the same
// things. Of more than `most` ranks only `most` that differ have a row, and a line says what the others do.
void WriteRanks(const Report& report, size_t most, Page* page);

// Only what tells some from the others, in `most` sentences.
void WriteRanksInShort(const Report& report, size_t most, Page* page);

}  // namespace vramtrack

#endif  // ANALYZER_RENDER_RANK_TEXT_H_
