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

// The lines of the job that hold the memory at the peak of each device, and of the host: a site is a call stack, and
// one line may have many of them. What leaks is listed by leak.
class PeakLines final : public Collector {
 public:
  // Symbolizes the sites that hold nearly all of each peak. `purposes`: by site. `analysis` must outlive it.
  PeakLines(ProcessAnalysis* analysis, const SitePurposes& purposes);

  const char* name() const override { return "lines at the peak"; }
  // Has the next replay find the peak without each line.
  void Prepare(Replay* detail) override;
  void Describe(const Replays& replays, ProcessFindings* findings) override;

 private:
  struct Line {
    std::vector<SiteIndex> sites;  // the largest first
    std::optional<ReportFrame> frame;
    uint64_t bytes = 0;
    size_t watched = 0;
  };
  struct Peak {
    uint32_t scope = 0;
    std::vector<Line> lines;  // the most bytes first, at most as many as the report has
    uint64_t sites = 0;       // all that hold something, but for leaks
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
