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

// The frame whose line an annotation stands at: from `from` outwards the first of the job's own code with a line, or
// else of any code with one, or else `from`.
size_t FrameToAnnotate(const std::vector<ReportFrame>& frames, size_t from);

// Names `finding` by its frames.
void NameByFrame(const std::vector<ReportFrame>& frames, size_t frame, CheckFinding* finding);

// Without rule, value and message.
CheckFinding FindingOf(const ReportSite& site);

// Of a leak as a whole; of a site that leads none, its own.
ReportLeak RatesOf(const ReportSite& site);

// What the rates of the leak are per.
RatePer PerOf(const ReportSite& site);
// The rate of a leak, with all that belongs to it, in bytes, or in objects where it has none. None: the trace does not
// tell it per that.
std::optional<double> RateOf(const ReportSite& site, RatePer per);  // of the worst rank, see WorstRankOf
std::optional<double> RateOfAll(const ReportSite& site, RatePer per);
// Why not.
std::string WhyNoRate(RatePer asked, RatePer per);

// "leaks 768 KiB per step (95 % CI 760 to 776 KiB) on device 0; the budget is ...".
std::string LeakMessage(const ReportSite& site, const Limit* limit);

}  // namespace vramtrack

#endif  // ANALYZER_CHECK_SITE_FINDINGS_H_
