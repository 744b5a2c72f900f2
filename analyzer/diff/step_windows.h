// SPDX-License-Identifier: Apache-2.0
//
// Which steps of two runs can be held against each other.
#ifndef ANALYZER_DIFF_STEP_WINDOWS_H_
#define ANALYZER_DIFF_STEP_WINDOWS_H_

#include <string>
#include <vector>

#include "analyzer/diff/compared_process.h"
#include "analyzer/diff/site_matching.h"

namespace vramtrack {

struct StepWindows {
  StepWindow base, next;
  std::string normaliser;  // in words, as in the report; empty: the steps are alike
};

// The steps that both runs have, after the warm-up of both. Where nearly all sites allocate a whole number of times as
// often in a step of one run as in a step of the other, so many steps of that other one are taken as one. Where steps
// are known together only, windows and blocks begin and end with these.
StepWindows CompareSteps(const ComparedProcess& base, const ComparedProcess& next,
                         const std::vector<SiteMatch>& matches);

}  // namespace vramtrack

#endif  // ANALYZER_DIFF_STEP_WINDOWS_H_
