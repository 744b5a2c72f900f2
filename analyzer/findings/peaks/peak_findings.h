// SPDX-License-Identifier: Apache-2.0
//
// Describes the memory at the peaks: its purpose, age and size.
#ifndef ANALYZER_FINDINGS_PEAKS_PEAK_FINDINGS_H_
#define ANALYZER_FINDINGS_PEAKS_PEAK_FINDINGS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "analyzer/attribution/category.h"
#include "analyzer/base/indices.h"
#include "analyzer/findings/core/collector.h"
#include "analyzer/findings/core/process_analysis.h"
#include "analyzer/peaks/peak_live_set.h"

namespace vramtrack {

// Returns the purpose of each site. Symbolizes the sites with nearly all of the memory; the others are
// Category::kOther.
SitePurposes PurposesOfSites(ProcessAnalysis* analysis);

// Adds the composition of each device's peak, and the peak without its largest sites.
class PeakFindings final : public Collector {
 public:
  // Both must outlive it. `purposes`: by site.
  PeakFindings(const ProcessAnalysis& analysis, const SitePurposes& purposes);

  const char* name() const override { return "peaks"; }
  void Prepare(Replay* detail) override;
  void Describe(const Replay& replay, ProcessFindings* findings) override;

 private:
  // Groups of the analysis whose bytes are subtracted from a device's peak together.
  struct Together {
    DeviceIndex device;
    std::vector<size_t> groups;  // the groups with the most bytes at the peak, largest first
    size_t watched = 0;
  };
  static std::vector<Together> Largest(const ProcessAnalysis& analysis);

  const ProcessAnalysis& analysis_;
  const SitePurposes& purposes_;
  std::vector<Together> largest_;  // for each device the largest group, the two largest and the three largest
  PeakLiveSet live_set_;
};

}  // namespace vramtrack

#endif  // ANALYZER_FINDINGS_PEAKS_PEAK_FINDINGS_H_
