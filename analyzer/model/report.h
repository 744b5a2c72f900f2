// SPDX-License-Identifier: Apache-2.0
//
// The result of an analysis as plain data: renderers print it and compute nothing. Names are those of the JSON report
// (docs/report.md). Sizes are integers in bytes. Step numbers are the job's own where it marked its steps.
#ifndef ANALYZER_MODEL_REPORT_H_
#define ANALYZER_MODEL_REPORT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/base/indices.h"
#include "analyzer/model/device.h"
#include "analyzer/model/enums.h"
#include "analyzer/model/fields.h"
#include "analyzer/model/holder.h"
#include "analyzer/model/machine.h"
#include "analyzer/model/oom.h"
#include "analyzer/model/peak.h"
#include "analyzer/model/rank.h"
#include "analyzer/model/run.h"
#include "analyzer/model/site.h"
#include "analyzer/model/timeline.h"

namespace vramtrack {

constexpr uint64_t kReportSchemaVersion = 1;

struct Report {
  std::string tool_version;
  std::vector<ReportProcess> processes;
  ReportSteps steps;
  std::vector<ReportDevice> devices;
  std::vector<ReportCard> cards;  // by UUID
  std::optional<ReportHost> host;
  std::vector<ReportSite> sites;
  std::vector<std::pair<std::string, uint64_t>> verdict_counts;
  std::vector<ReportSiteIndex> ranking;
  std::vector<ReportTimeline> timeline;
  std::vector<ReportPeakLines> peak_lines;
  std::vector<ReportPeakStacks> peak_stacks;
  std::vector<ReportOom> oom;
  std::vector<ReportRelease> releases;  // by bytes, largest first
  std::vector<ReportWalk> walks;        // by process, then by time
  std::vector<ReportRank> ranks;
  std::vector<std::string> warnings;
  std::string left_out;               // the warning about runs of the same folder that were left out; may be empty
  std::vector<ReportReason> reasons;  // the suspect first
  std::optional<ReportGrowthLedger> pinned_growth, handle_growth;
};

Answer AnswerOf(const Report& report);

template <class Visitor>
void Fields(Visitor& visit, Report& report) {
  uint64_t version = kReportSchemaVersion;
  Answer answer = AnswerOf(report);
  visit(0, "schema_version", version, "1; fields may be added without a new one");
  visit(0, "tool_version", report.tool_version, "of vramtrack");
  visit(0, "processes", report.processes);
  visit(0, "answer", answer, "what the report comes to, as its first line says it");
  visit(0, "steps", report.steps);
  visit(0, "devices", report.devices);
  visit(0, "cards", report.cards, "that several processes of the job used");
  visit(0, "host", report.host, "`null` if it was not read: traces of older versions, runs without step marks");
  visit(0, "sites", report.sites);
  visit(0, "verdict_counts", field::Map{report.verdict_counts},
        "how many sites have each verdict, of all sites, listed or not; sites that look the same are one");
  visit(0, "ranking", report.ranking, "the sites that lead a leak, worst first, by the rate of the whole");
  visit(0, "timeline", report.timeline);
  visit(0, "peak_lines", report.peak_lines);
  visit(0, "peak_stacks", report.peak_stacks);
  visit(0, "oom", report.oom);
  visit(0, "releases", report.releases);
  visit(0, "walks", report.walks, "made only where the run asked [who holds it](report.md#who-holds-it)");
  visit(0, "ranks", report.ranks, "empty for one process");
  visit(0, "warnings", report.warnings, "one line each: missing symbols, damage, lost events, runs left out");
  visit(0, "pinned_growth", report.pinned_growth, "of pinned host memory; `null` if there is none");
  visit(0, "handle_growth", report.handle_growth, "of streams, events and other handles; `null` if there are none");
  visit(0, "reasons", report.reasons,
        "why nothing else is known to be clean: lines that may leak, parts of the run that could not be judged. With "
        "any, a run without leaks is not called `NO LEAK`");
}

}  // namespace vramtrack

#endif  // ANALYZER_MODEL_REPORT_H_
