// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_FINDINGS_HOLDERS_HOLDER_FINDINGS_H_
#define ANALYZER_FINDINGS_HOLDERS_HOLDER_FINDINGS_H_

#include <memory>
#include <string>
#include <vector>

#include "analyzer/findings/core/collector.h"
#include "analyzer/findings/core/process_analysis.h"
#include "analyzer/ingest/trace.h"

namespace vramtrack {

// Adds what walks through the objects of the process found: which Python names hold the blocks of each site, of each
// device, and of each failed allocation. Only for a trace with walks. Both must outlive it. `purposes`: by site.
std::unique_ptr<Collector> MakeHolderFindings(ProcessAnalysis* analysis, const SitePurposes& purposes);

// Adds a line if walks were asked for and there is none, unless there was just no occasion for one.
void AddMissingWalkWarning(const Trace& trace, std::vector<std::string>* warnings);

}  // namespace vramtrack

#endif  // ANALYZER_FINDINGS_HOLDERS_HOLDER_FINDINGS_H_
