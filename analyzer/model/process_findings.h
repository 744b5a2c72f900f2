// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_MODEL_PROCESS_FINDINGS_H_
#define ANALYZER_MODEL_PROCESS_FINDINGS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/model/machine.h"
#include "analyzer/model/report.h"

namespace vramtrack {

// The findings about one process. Sites have no id yet, because ids depend on the sites of all processes.
struct ProcessFindings {
  ReportProcess process;
  ReportSteps steps;
  std::vector<ReportDevice> devices;  // their sites are indices of `sites`
  std::optional<ReportHost> host;
  std::vector<CardUse> cards;
  std::vector<ReportSite> sites;                   // part_of names indices of `sites`
  std::map<std::string, uint64_t> verdict_counts;  // counts all sites, as in Report
  std::vector<ReportTimeline> timeline;
  std::vector<ReportPeakLines> peak_lines;    // their sites are indices of `sites`
  std::vector<ReportPeakStacks> peak_stacks;  // likewise
  std::vector<ReportOom> oom;                 // their holders are indices of `sites`
  std::vector<ReportRelease> releases;
  std::vector<ReportWalk> walks;  // by time
  std::vector<std::string> warnings;
  std::vector<ReportReason> reasons;  // as in Report
  std::optional<ReportGrowthLedger> pinned_growth, handle_growth;
};

// All fields are stored in summaries. Other fields of a report are computed from several processes.
template <class Visitor>
void Fields(Visitor& visit, ProcessFindings& findings) {
  visit(1, "process", findings.process);
  visit(2, "steps", findings.steps);
  visit(3, "devices", findings.devices);
  visit(4, "sites", findings.sites);
  visit(5, "verdict_counts", field::Map{findings.verdict_counts});
  visit(6, "timeline", findings.timeline);
  visit(7, "peak_lines", findings.peak_lines);
  visit(8, "peak_stacks", findings.peak_stacks);
  visit(9, "oom", findings.oom);
  visit(10, "releases", findings.releases);
  visit(11, "warnings", findings.warnings);
  visit(17, "reasons", findings.reasons);
  visit(18, "pinned_growth", findings.pinned_growth);
  visit(19, "handle_growth", findings.handle_growth);
  visit(14, "walks", findings.walks);
  visit(15, "host", findings.host);
  visit(16, "cards", findings.cards);
}

}  // namespace vramtrack

#endif  // ANALYZER_MODEL_PROCESS_FINDINGS_H_
