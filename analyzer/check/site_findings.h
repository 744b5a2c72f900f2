// SPDX-License-Identifier: Apache-2.0
//
// Findings about one site of a report.
#ifndef ANALYZER_CHECK_SITE_FINDINGS_H_
#define ANALYZER_CHECK_SITE_FINDINGS_H_

#include <optional>
#include <string>
#include <vector>

#include "analyzer/check/limits.h"
#include "analyzer/model/check_report.h"
#include "analyzer/model/report.h"

namespace vramtrack {

// Returns the index of the frame whose line gets an annotation: from `from` outwards the first frame of the job's own
// code with a line, or else the first of any code with a line, or else `from`.
size_t FrameToAnnotate(const std::vector<ReportFrame>& frames, size_t from);

// Sets the frames, subject, file and line of `finding`. The frame that names it is searched from `frame` outwards, see
// FrameToAnnotate.
void NameByFrame(const std::vector<ReportFrame>& frames, size_t frame, CheckFinding* finding);

// Returns a finding about the site, without rule, value and message.
CheckFinding FindingOf(const ReportSite& site);

// Returns the denominator of the leak's rates.
RatePer PerOf(const ReportSite& site);
// Return the rate of a leak including all its sites, in bytes, or in objects if it has no bytes. Nullopt if the trace
// has no rate with this denominator.
std::optional<double> RateFor(const ReportSite& site, RatePer per);  // for the worst rank, see WorstRankOf
std::optional<double> RateOfAll(const ReportSite& site, RatePer per);
// Returns the reason why RateFor() is nullopt.
std::string WhyNoRate(RatePer asked, RatePer per);

// Returns a message such as "leaks 768 KiB per step (95 % CI 760 to 776 KiB) on device 0; the budget is ...".
std::string LeakMessage(const ReportSite& site, const Limit* limit);

}  // namespace vramtrack

#endif  // ANALYZER_CHECK_SITE_FINDINGS_H_
