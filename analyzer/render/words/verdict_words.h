// SPDX-License-Identifier: Apache-2.0
//
// What each verdict is called, in every output.
#ifndef ANALYZER_RENDER_WORDS_VERDICT_WORDS_H_
#define ANALYZER_RENDER_WORDS_VERDICT_WORDS_H_

#include <string>

#include "analyzer/model/report.h"

namespace vramtrack {

struct VerdictWords {
  const char* growth;  // of a line that grew: "leak", "fills, slowing or full", "may leak"
  const char* state;   // in a narrow column: "slows down"
  const char* does;    // as a predicate: "grows, but slows down"; of a leak before its rate: "leaks "; empty: nothing
};
const VerdictWords& WordsOf(Verdict verdict);

// Returns "LEAK", "MINOR LEAK", "ACCELERATING LEAK" or "GROWING BUFFER".
std::string LeakTitle(const ReportSite& site);

// Returns the state of a site: "leak", "may leak", "slows down", "steady".
std::string StateText(const Report& report, const ReportSite& site);

// Returns how a verdict is to be taken: "bad", "good" or "unsure".
const char* ToneOf(Verdict verdict);

}  // namespace vramtrack

#endif  // ANALYZER_RENDER_WORDS_VERDICT_WORDS_H_
