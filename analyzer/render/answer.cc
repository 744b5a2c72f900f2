// SPDX-License-Identifier: Apache-2.0
#include "analyzer/render/answer.h"

#include <algorithm>

namespace vramtrack {

Answer AnswerOf(const Report& report) {
  if (!report.ranking.empty()) return Answer::kLeak;
  if (report.steps.count == 0) return Answer::kNotEnough;
  for (const ReportSite& site : report.sites) {
    if (site.verdict == "insufficient_evidence") return Answer::kNotEnough;
  }
  return Answer::kNoLeak;
}

std::optional<uint64_t> FurtherStepsNeeded(const Report& report) {
  std::optional<uint64_t> most;
  for (const ReportSite& site : report.sites) {
    if (site.verdict != "insufficient_evidence" || !site.further_steps_needed) continue;
    most = std::max(most.value_or(0), *site.further_steps_needed);
  }
  return most;
}

const ReportSite* FindSite(const Report& report, const std::string& id) {
  for (const ReportSite& site : report.sites) {
    if (site.id == id) return &site;
  }
  return nullptr;
}

}  // namespace vramtrack
