// SPDX-License-Identifier: Apache-2.0
//
// What a diff says that a check may fail on.
#ifndef ANALYZER_CHECK_REGRESSIONS_H_
#define ANALYZER_CHECK_REGRESSIONS_H_

#include <utility>
#include <vector>

#include "analyzer/model/check_report.h"
#include "analyzer/model/diff_report.h"

namespace vramtrack {

// Leaks of the new run that the base does not have, or has with a lower rate. The diff must outlive it.
class FasterLeaks {
 public:
  explicit FasterLeaks(const DiffReport& diff);

  // What has changed of a site of the new run's report; null if it does not leak, or did so before. Marks it as found.
  const DiffFinding* Find(const ReportSite& site);
  // Those that Find has not found.
  std::vector<const DiffFinding*> Others() const;

 private:
  std::vector<std::pair<const DiffFinding*, bool>> leaks_;  // and whether it was found
};

// Adds what has changed to the finding of a leak. `base_rate`: bytes per step, of all its sites. `of_many`: and of
// ranks.
void DescribeChange(const DiffFinding& change, double base_rate, bool of_many, CheckFinding* finding);

// A leak that the report of the new run does not list.
CheckFinding LeakRegression(const DiffFinding& change);

// New and grown sites that are no such leaks, and what has become worse of whole devices. What has only moved is none.
// `report`: of the new run, by which sites are named.
std::vector<CheckFinding> FindRegressions(const DiffReport& diff, const Report& report);

}  // namespace vramtrack

#endif  // ANALYZER_CHECK_REGRESSIONS_H_
