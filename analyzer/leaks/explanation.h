// SPDX-License-Identifier: Apache-2.0
//
// A verdict as one sentence of plain English, with the numbers that decided it.
#ifndef ANALYZER_LEAKS_EXPLANATION_H_
#define ANALYZER_LEAKS_EXPLANATION_H_

#include <cstddef>
#include <string>

#include "analyzer/leaks/cohort.h"

namespace vramtrack {

// `verdict` complete but for its explanation. `sites`: that it is on.
std::string Explain(const LeakVerdict& verdict, const SiteHistory& history, const RunShape& run,
                    const SiteContext& context, size_t sites = 1);

}  // namespace vramtrack

#endif  // ANALYZER_LEAKS_EXPLANATION_H_
