// SPDX-License-Identifier: Apache-2.0
//
// The overall answer of a report and its reasons. Text, JSON, page, exit codes and checks agree because they all call
// these functions and AnswerOf (report.h).
#ifndef ANALYZER_MODEL_ANSWER_H_
#define ANALYZER_MODEL_ANSWER_H_

#include <cstdint>
#include <optional>
#include <string>

#include "analyzer/model/report.h"

namespace vramtrack {

// Return the number of sites with this verdict, and of all sites, including the small ones that the report does not
// list.
uint64_t SitesWith(const Report& report, Verdict verdict);
uint64_t AllSites(const Report& report);

// Returns whether all known leaks are minor, and a site that cannot be judged yet has so far kept at least 200 times as
// much per step as the largest of them leaks.
bool LeaksAreOutweighed(const Report& report);

// Returns whether an allocation on the device failed because memory was missing. A prediction of that moment is then
// pointless.
bool HasRunOut(const Report& report, uint32_t device);

// Returns the first device with this index, which the report owns; null if there is none.
const ReportDevice* FindDevice(const Report& report, std::optional<uint32_t> index);

// Returns the site with this id, which the report owns; null if there is none.
const ReportSite* FindSite(const Report& report, ReportSiteIndex site);

}  // namespace vramtrack

#endif  // ANALYZER_MODEL_ANSWER_H_
