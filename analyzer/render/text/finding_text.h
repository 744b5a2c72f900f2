// SPDX-License-Identifier: Apache-2.0
//
// The verdicts on sites, in words.
#ifndef ANALYZER_RENDER_TEXT_FINDING_TEXT_H_
#define ANALYZER_RENDER_TEXT_FINDING_TEXT_H_

#include <cstddef>

#include "analyzer/model/report.h"
#include "analyzer/render/text/page.h"

namespace vramtrack {

// The answer: the worst leak with its line, rate and stack of at most `frames`, or that there is none and what says so,
// or what is missing for an answer.
void WriteAnswer(const Report& report, size_t frames, Page* page);

// What else is wrong, or may look so: at most `most` findings, one line each and, with `reasons`, their explanation.
void WriteFurtherFindings(const Report& report, size_t most, bool reasons, Page* page);

// How many sites are in order, in one line; behind a blank one if `apart`. Nothing if there are none.
void WriteVerdictCounts(const Report& report, bool apart, Page* page);

}  // namespace vramtrack

#endif  // ANALYZER_RENDER_TEXT_FINDING_TEXT_H_
