// SPDX-License-Identifier: Apache-2.0
#include "analyzer/summary/summarize.h"

#include <memory>

#include "analyzer/findings/find_in_process.h"
#include "analyzer/ingest/trace.h"
#include "analyzer/profile/make_step_profile.h"
#include "proto/tool_version.h"

namespace vramtrack {

absl::StatusOr<ProcessSummary> SummarizeProcess(const std::string& path, const AnalyzeOptions& options) {
  const absl::StatusOr<std::unique_ptr<Trace>> trace = Trace::Open(path);
  if (!trace.ok()) return trace.status();
  const TracedProcess& process = (*trace)->definitions().process;
  ProcessSummary summary;
  summary.identity = {process.host, (*trace)->clock().start_realtime_ns(), process.pid};
  summary.tool_version = kToolVersion;
  ProcessAnalysis analysis(**trace, options);
  ProfileMaker profile(&analysis);
  summary.findings = FindInAnalysis(&analysis, &profile);
  summary.profile = profile.Take();
  return summary;
}

}  // namespace vramtrack
