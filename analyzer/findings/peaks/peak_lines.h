// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_FINDINGS_PEAKS_PEAK_LINES_H_
#define ANALYZER_FINDINGS_PEAKS_PEAK_LINES_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/base/indices.h"
#include "analyzer/findings/core/collector.h"
#include "analyzer/findings/core/process_analysis.h"
#include "analyzer/model/report.h"

namespace vramtrack {

// Adds the job's lines with the most bytes at the peak of each device and of the host. A site is a call stack, and one
// line may have many. Leaks are listed by leak, not by line.
class PeakLines final : public Collector {
 public:
  // Symbolizes the sites with nearly all bytes of each peak. `purposes`: by site. `analysis` must outlive it.
  PeakLines(ProcessAnalysis* analysis, const SitePurposes& purposes);

  const char* name() const override { return "lines at the peak"; }
  // Requests the peak without each line.
  void Prepare(Replay* detail) override;
  void Describe(const Replay& replay, ProcessFindings* findings) override;

 private:
  struct Line {
    std::vector<SiteIndex> sites;  // largest first
    std::optional<ReportFrame> frame;
    uint64_t bytes = 0;
    size_t watched = 0;
  };
  struct Peak {
    uint32_t scope = 0;
    std::vector<Line> lines;  // most bytes first, at most as many as the report shows
    uint64_t sites = 0;       // number of sites with bytes at the peak, without leaks
  };

  Peak LinesOf(uint32_t scope);
  bool IsOfLeak(SiteIndex site) const;
  ReportPeakLine Describe(const Line& line, const Counterfactual& without) const;

  ProcessAnalysis& analysis_;
  const SitePurposes& purposes_;
  std::vector<Peak> peaks_;
};

}  // namespace vramtrack

#endif  // ANALYZER_FINDINGS_PEAKS_PEAK_LINES_H_
