// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_FINDINGS_PEAKS_LATE_FINDINGS_H_
#define ANALYZER_FINDINGS_PEAKS_LATE_FINDINGS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "analyzer/attribution/category.h"
#include "analyzer/base/indices.h"
#include "analyzer/findings/core/collector.h"
#include "analyzer/findings/core/process_analysis.h"

namespace vramtrack {

// Adds to each device the objects that are freed later than most of their sites, by what they would save at its peak;
// only those that matter. Sites are named by their index.
class LateFindings final : public Collector {
 public:
  // `analysis` must outlive it. `purposes`: by site.
  LateFindings(const ProcessAnalysis& analysis, const SitePurposes& purposes);

  const char* name() const override { return "late objects"; }
  void Prepare(Replay* detail) override;
  void Describe(const Replay& replay, ProcessFindings* findings) override;

  // Sites of one category, some of whose objects live on into a later step.
  struct Group {
    uint32_t scope = 0;
    std::vector<SiteIndex> sites;
    size_t watched = 0;
  };

 private:
  const ProcessAnalysis& analysis_;
  std::vector<Group> groups_;
};

}  // namespace vramtrack

#endif  // ANALYZER_FINDINGS_PEAKS_LATE_FINDINGS_H_
