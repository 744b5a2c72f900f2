// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_MODEL_SITE_PLACES_H_
#define ANALYZER_MODEL_SITE_PLACES_H_

#include <unordered_map>
#include <vector>

#include "analyzer/model/report.h"

namespace vramtrack {

// The frame that stands for a site in a list: of a leak the one to blame, of others the innermost that tells the site
// apart from all others, for the innermost of all is often the same helper in every line. The report must outlive it.
class SitePlaces {
 public:
  explicit SitePlaces(const Report& report);
  // Of these only, as the parts of one leak, that are to be told apart from each other.
  explicit SitePlaces(const std::vector<const ReportSite*>& sites);
  // Of stacks that are no sites of a report; a stack must have been counted before it is asked for.
  SitePlaces() = default;
  void Count(const std::vector<ReportFrame>& frames);
  const ReportFrame* Of(const std::vector<ReportFrame>& frames) const;

  // Null for a site without frames.
  const ReportFrame* Of(const ReportSite& site) const;

  // The innermost that tells the site apart, in a stack with Python the nearest of Python's; null without frames.
  const ReportFrame* Innermost(const ReportSite& site) const;

 private:
  size_t FirstOfItsOwn(const std::vector<ReportFrame>& frames) const;

  // How many sites begin, at the innermost frame, with frames of this hash.
  std::unordered_map<size_t, int> sites_with_;
};

}  // namespace vramtrack

#endif  // ANALYZER_MODEL_SITE_PLACES_H_
