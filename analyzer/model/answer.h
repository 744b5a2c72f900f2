// SPDX-License-Identifier: Apache-2.0
//
// What a report comes to, and why. Text, JSON, page, exit codes and checks say the same because they ask here and
// AnswerOf (report.h).
#ifndef ANALYZER_MODEL_ANSWER_H_
#define ANALYZER_MODEL_ANSWER_H_

#include <cstdint>
#include <optional>
#include <string>

#include "analyzer/model/report.h"

namespace vramtrack {

// Why a run without a known leak may still have one.
enum class Gap {
  kNone,
  kNoSteps,
  kUnsure,         // Report::unsure says why
  kUnjudgedSites,  // too few steps for some sites
};
Gap GapIn(const Report& report);

// Sites with this verdict, and all sites; the small ones that the report does not list too.
uint64_t SitesWith(const Report& report, const std::string& verdict);
uint64_t AllSites(const Report& report);

// Whether all known leaks are minor, and a site that cannot be judged yet has kept 200 times as much per step so far as
// the largest of them leaks.
bool LeaksAreOutweighed(const Report& report);

// The most further steps that a site without a verdict asks for; none: that is not known, or none asks.
std::optional<uint64_t> FurtherStepsNeeded(const Report& report);

// The length of a run that should be enough for a verdict on each site, in steps: at least 60, with a margin over the
// estimate, because a second run that is too short costs more. None: more steps do not help.
std::optional<uint64_t> StepsToRun(const Report& report);

// Whether an allocation on the device failed for want of memory: what would come about has done so.
bool HasRunOut(const Report& report, uint32_t device);

// The site with this id; null if there is none.
const ReportSite* FindSite(const Report& report, const std::string& id);

}  // namespace vramtrack

#endif  // ANALYZER_MODEL_ANSWER_H_
