// SPDX-License-Identifier: Apache-2.0
//
// What the limits of devices and ranks are compared with.
#ifndef ANALYZER_CHECK_MEASURED_H_
#define ANALYZER_CHECK_MEASURED_H_

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/check/limits.h"
#include "analyzer/report.h"

namespace vramtrack {

using Measured = std::map<std::string, std::optional<double>>;  // by key of kLimitKinds; none: it is not known

// Fragmentation in bytes, or as a share of what is reserved.
Measured MeasureDevice(const Report& report, const ReportDevice& device, bool fragmentation_as_share);
Measured MeasureRank(const ReportRank& rank);

// Also of a trace with one rank only, which the report does not compare.
std::vector<ReportRank> RanksOf(const Report& report);

// Why `value` is against `limit`, as a phrase that follows the device or rank.
std::string MeasuredMessage(const LimitKind& kind, double value, const Limit& limit);

// As CheckFinding has it.
const char* UnitName(LimitUnit unit, bool share);

}  // namespace vramtrack

#endif  // ANALYZER_CHECK_MEASURED_H_
