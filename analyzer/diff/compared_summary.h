// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_DIFF_COMPARED_SUMMARY_H_
#define ANALYZER_DIFF_COMPARED_SUMMARY_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "analyzer/diff/compared_process.h"
#include "analyzer/findings/core/process_analysis.h"
#include "analyzer/model/process_findings.h"
#include "analyzer/profile/step_profile.h"

namespace vramtrack {

// A process of which only sums over windows of steps are known. Thread-compatible.
class ComparedSummary : public ComparedProcess {
 public:
  // `path`: of the summary.
  ComparedSummary(const std::string& path, const ProcessFindings& findings, StepProfile profile);
  // What a summary of the trace would say.
  explicit ComparedSummary(ProcessAnalysis* analysis);
  ComparedSummary(ProcessFacts facts, StepProfile profile);

  std::string Category(size_t site) override { return profile_.sites[site].category; }
  ProcessProfile Profile(const std::vector<SiteMatch>& matches, std::vector<size_t> SiteMatch::*which,
                         const StepWindow& window) override;
  const StepProfile* sums() const override { return &profile_; }

 private:
  StepProfile profile_;
};

}  // namespace vramtrack

#endif  // ANALYZER_DIFF_COMPARED_SUMMARY_H_
