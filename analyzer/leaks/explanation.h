// SPDX-License-Identifier: Apache-2.0
//
// Writes a verdict as one sentence, with the numbers that decided it.
#ifndef ANALYZER_LEAKS_EXPLANATION_H_
#define ANALYZER_LEAKS_EXPLANATION_H_

#include <cstddef>
#include <string>

#include "analyzer/leaks/cohort.h"

namespace vramtrack {

// Returns the explanation of `verdict`, whose other fields must be complete. `sites`: how many call stacks the verdict
// is about.
std::string Explain(const LeakVerdict& verdict, const SiteHistory& history, const RunShape& run,
                    const SiteContext& context, size_t sites = 1);

// Returns why the site of such a verdict cannot be judged, as the first part of its explanation says it. The verdict
// must be insufficient_evidence.
std::string WhyUnjudged(const LeakVerdict& verdict, const SiteHistory& history, const RunShape& run,
                        const SiteContext& context);

}  // namespace vramtrack

#endif  // ANALYZER_LEAKS_EXPLANATION_H_
