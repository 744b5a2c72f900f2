// SPDX-License-Identifier: Apache-2.0
//
// What the limits of devices and ranks are compared with.
#ifndef ANALYZER_CHECK_MEASURED_H_
#define ANALYZER_CHECK_MEASURED_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/check/limits.h"
#include "analyzer/model/report.h"

namespace vramtrack {

// A limit of leaks is for one rank and device. If several ranks have a device of the same number, on several machines
// or through CUDA_VISIBLE_DEVICES, the worst rank decides.
struct WorstRank {
  double rate = 0, together = 0;  // bytes or objects per what the report's rates are per: of it, and of all ranks
  std::optional<int> rank;        // none: the job has no ranks
  uint32_t pid = 0;
  uint64_t ranks = 0;  // that leak, or have the device
};

// None if one rank has everything, or if the ranks' shares are unknown.
std::optional<WorstRank> WorstRankOf(const ReportSite& site);
// `together`: the rate of all sites of the device. A rank with several devices counts with all of them.
std::optional<WorstRank> WorstRankOf(const Report& report, uint32_t device, double together);

// " in rank 3, the worst of 10 (7.5 MiB per step together)".
std::string WorstRankText(const WorstRank& worst, const std::string& together);

using Measured = std::map<std::string, std::optional<double>>;  // by key of kLimitKinds; none: it is not known

// What the rates of the report are per.
RatePer PerOf(const Report& report);

// In the unit of `limit`: sizes in bytes or as a share of the device, fragmentation in bytes or as a share of the
// reserved bytes, rates per step, GiB or second.
Measured MeasureDevice(const Report& report, const ReportDevice& device, const Limit& limit);
Measured MeasureRank(const Report& report, const ReportRank& rank, const Limit& limit);
// Why a figure is not known.
std::string WhyUnknown(const Report& report, const LimitKind& kind, const Limit& limit);

// Also of a trace with one rank only, which the report does not compare.
std::vector<ReportRank> RanksOf(const Report& report);

// Of the leaks of a device, see WorstRankOf.
std::optional<WorstRank> WorstLeaksOf(const Report& report, uint32_t device);

// Why `value` is against `limit`, as a phrase that follows the device or rank. `worst`: whose value it is; null: of
// all.
std::string MeasuredMessage(const LimitKind& kind, double value, const Limit& limit, const WorstRank* worst = nullptr);

// As CheckFinding has it.
std::string UnitName(LimitUnit unit, bool share, RatePer per);

}  // namespace vramtrack

#endif  // ANALYZER_CHECK_MEASURED_H_
