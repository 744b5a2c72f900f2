// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_RENDER_TEXT_COMPLETENESS_TEXT_H_
#define ANALYZER_RENDER_TEXT_COMPLETENESS_TEXT_H_

#include <cstddef>

#include "analyzer/model/report.h"
#include "analyzer/render/text/page.h"

namespace vramtrack {

// How much of what happened is in the trace, by process (at most `most`, the incomplete ones first), where the steps
// come from, and what the analysis warns of.
void WriteCompleteness(const Report& report, size_t most, Page* page);

// The same in one line; the warnings are only counted.
void WriteCompletenessInShort(const Report& report, Page* page);

}  // namespace vramtrack

#endif  // ANALYZER_RENDER_TEXT_COMPLETENESS_TEXT_H_
