// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_DIFF_COMPARABLE_H_
#define ANALYZER_DIFF_COMPARABLE_H_

#include <string>
#include <vector>

#include "analyzer/diff/compared_run.h"
#include "analyzer/diff/site_matching.h"

namespace vramtrack {

// Why these are not two runs of one program, of which nothing else can be said; empty if they are.
std::string WhyNotComparable(const ComparedRun& base, const ComparedRun& next, const std::vector<SiteMatch>& matches);

}  // namespace vramtrack

#endif  // ANALYZER_DIFF_COMPARABLE_H_
