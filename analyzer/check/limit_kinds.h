// SPDX-License-Identifier: Apache-2.0
//
// What the limits of a device or a rank are compared with: the table of the kinds of limits has the figures.
#ifndef ANALYZER_CHECK_LIMIT_KINDS_H_
#define ANALYZER_CHECK_LIMIT_KINDS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/check/limits.h"
#include "analyzer/model/check_report.h"
#include "analyzer/model/report.h"

namespace vramtrack {

// A limit for leaks applies to one rank and device. Several ranks can have a device with the same number, on several
// machines or because of CUDA_VISIBLE_DEVICES. Then the worst rank decides.
struct WorstRank {
  // The rate of this rank, and of all ranks together, in bytes or objects, per the denominator of the report's rates.
  double rate = 0, together = 0;
  std::optional<int> rank;  // nullopt: the job has no ranks
  uint32_t pid = 0;
  uint64_t ranks = 0;  // number of ranks that leak, or that have the device
};

// Returns nullopt if one rank has everything, or if the shares of the ranks are unknown.
std::optional<WorstRank> WorstRankOf(const ReportSite& site);
// `together` is the rate of all sites of the device. A rank with several devices counts with all of them.
std::optional<WorstRank> WorstRankOf(const Report& report, uint32_t device, double together);

// Returns a text such as " in rank 3, the worst of 10 (7.5 MiB per step together)".
std::string WorstRankText(const WorstRank& worst, const std::string& together);

// Returns the denominator of the report's rates.
RatePer PerOf(const Report& report);

// Returns the reason why a figure is unknown.
std::string WhyUnknown(const Report& report, const LimitKind& kind, const Limit& limit);

// Returns the ranks of the job, including the rank of a trace with only one, which the report does not compare.
std::vector<ReportRank> RanksOf(const Report& report);

// Returns the worst rank for the leaks of a device; see WorstRankOf.
std::optional<WorstRank> WorstLeaksOf(const Report& report, uint32_t device);

// Returns "; the budget is 64.0 KiB per step (b.toml:3)".
std::string BudgetText(const Limit& limit, LimitUnit unit);

// Returns why `value` violates `limit`, as a phrase that follows the device or rank. `worst` is the rank that has the
// value; null if it is the value of all.
std::string MeasuredMessage(const LimitKind& kind, double value, const Limit& limit, const WorstRank* worst);

// Returns the unit of a finding about a limit.
CheckUnit UnitOf(LimitUnit unit, bool share, RatePer per);

// Returns whether the unit is bytes per something.
bool IsByteRate(CheckUnit unit);

}  // namespace vramtrack

#endif  // ANALYZER_CHECK_LIMIT_KINDS_H_
