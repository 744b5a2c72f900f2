// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_CHECK_WORST_RANK_H_
#define ANALYZER_CHECK_WORST_RANK_H_

#include <cstdint>
#include <optional>
#include <string>

#include "analyzer/model/report.h"

namespace vramtrack {

// A limit of leaks is for one rank and device: of several ranks that see a device of the same number, on many machines
// or through CUDA_VISIBLE_DEVICES, the worst decides.
struct WorstRank {
  double rate = 0, together = 0;  // bytes or objects per what the report's rates are per: of it, and of all ranks
  std::optional<int> rank;        // none: the job has no ranks
  uint32_t pid = 0;
  uint64_t ranks = 0;  // that leak, or have the device
};

// None where one rank has all of it, or where it is not known for each rank.
std::optional<WorstRank> WorstRankOf(const ReportSite& site);
// `together`: what the sites of the device leak. A rank with several devices counts with all of them.
std::optional<WorstRank> WorstRankOf(const Report& report, uint32_t device, double together);

// " in rank 3, the worst of 10 (7.5 MiB per step together)".
std::string WorstRankText(const WorstRank& worst, const std::string& together);

}  // namespace vramtrack

#endif  // ANALYZER_CHECK_WORST_RANK_H_
