// SPDX-License-Identifier: Apache-2.0
//
// Writes the evidence for a verdict as one short sentence.
#ifndef ANALYZER_VERDICTS_EXPLANATION_H_
#define ANALYZER_VERDICTS_EXPLANATION_H_

#include <string>

#include "analyzer/leaks/site_history.h"
#include "analyzer/verdicts/line_verdict.h"

namespace vramtrack {

// Returns the evidence for the verdict on a line, in the job's own step numbers.
std::string Explain(const LineVerdict& verdict, const RunShape& run, uint64_t horizon_steps);

// Returns why a line that grows is not called a leak: the fact that speaks against it, or what else looks the same.
std::string WhyNotSure(const LineVerdict& verdict);

// Returns the id of that reason: of the fact, or of the model that explains the evidence as well; "" for other
// verdicts.
std::string ReasonId(const LineVerdict& verdict);

// Returns what a site did that belongs to no finding.
std::string ExplainClean(Verdict verdict, const SiteHistory& history, const RunShape& run);

}  // namespace vramtrack

#endif  // ANALYZER_VERDICTS_EXPLANATION_H_
