// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_MODEL_SITE_PLACES_H_
#define ANALYZER_MODEL_SITE_PLACES_H_

#include <unordered_map>
#include <vector>

#include "analyzer/model/report.h"

namespace vramtrack {

// Chooses the frame that represents a site in a list: for a leak the frame to blame, for others the innermost frame
// that distinguishes the site from all others. The innermost frame of all is often the same helper on every line. The
// report must outlive this object.
class SitePlaces {
 public:
  explicit SitePlaces(const Report& report);
  // Distinguishes only these sites from each other, for example the parts of one leak.
  explicit SitePlaces(const std::vector<const ReportSite*>& sites);
  // Starts without sites, for stacks that are not sites of a report. Count() a stack before calling Of() for it.
  SitePlaces() = default;
  void Count(const std::vector<ReportFrame>& frames);
  const ReportFrame* Of(const std::vector<ReportFrame>& frames) const;

  // Returns null for a site without frames.
  const ReportFrame* Of(const ReportSite& site) const;

  // Returns the innermost frame that distinguishes the site, in a stack with Python the nearest Python frame; null
  // without frames.
  const ReportFrame* Innermost(const ReportSite& site) const;

 private:
  size_t FirstOfItsOwn(const std::vector<ReportFrame>& frames) const;

  // Number of sites whose innermost frames have this hash.
  std::unordered_map<size_t, int> sites_with_;
};

}  // namespace vramtrack

#endif  // ANALYZER_MODEL_SITE_PLACES_H_
