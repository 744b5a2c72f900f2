// SPDX-License-Identifier: Apache-2.0
//
// Regressions in a diff, for which a check can fail.
#ifndef ANALYZER_CHECK_REGRESSIONS_H_
#define ANALYZER_CHECK_REGRESSIONS_H_

#include <utility>
#include <vector>

#include "analyzer/model/check_report.h"
#include "analyzer/model/diff_report.h"

namespace vramtrack {

// Leaks of the new run that the baseline does not have, or has with a lower rate. The diff must outlive this object.
class FasterLeaks {
 public:
  explicit FasterLeaks(const DiffReport& diff);

  // Returns the change of a site in the new run's report, and marks it as found; null if the site does not leak, or
  // leaked before.
  const DiffFinding* Find(const ReportSite& site);
  // Returns the changes that Find() has not returned.
  std::vector<const DiffFinding*> Others() const;

 private:
  std::vector<std::pair<const DiffFinding*, bool>> leaks_;  // a change, and whether it was found
};

// Adds the change to the message of a leak's finding. `base_rate` is the rate of all its sites in the baseline, in
// bytes per step. `of_many` is true if the rates are totals of several ranks.
void DescribeChange(const DiffFinding& change, double base_rate, bool of_many, CheckFinding* finding);

// Returns the finding for a leak that the report of the new run does not list.
CheckFinding LeakRegression(const DiffFinding& change);

// Returns findings for new and grown sites that are not such leaks, and for devices that have become worse as a whole.
// A site that has only moved is not a regression. `report` is that of the new run; its sites give the names.
std::vector<CheckFinding> FindRegressions(const DiffReport& diff, const Report& report);

}  // namespace vramtrack

#endif  // ANALYZER_CHECK_REGRESSIONS_H_
