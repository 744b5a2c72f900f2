// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_MODEL_WHOLE_LEAK_H_
#define ANALYZER_MODEL_WHOLE_LEAK_H_

#include <cstddef>
#include <map>
#include <vector>

#include "analyzer/model/site.h"

namespace vramtrack {

// Returns the figures of the leak that a site leads, or of the site alone.
inline ReportLeak WholeOf(const ReportSite& site) {
  if (site.group) return *site.group;
  return {site.rate_bytes_per_step, site.rate_ci_low,   site.rate_ci_high,     site.rate_objects_per_step,
          site.live_bytes,          site.bytes_at_peak, site.peak_without_site};
}

// Returns the sites of each leak, by the site that leads it: indices of `sites`, ascending.
inline std::map<size_t, std::vector<size_t>> LeakMembers(const std::vector<ReportSite>& sites) {
  std::map<size_t, std::vector<size_t>> leaks;
  for (size_t i = 0; i < sites.size(); ++i) {
    if (!sites[i].part_of.is_none()) {
      leaks[sites[i].part_of.value()].push_back(i);
    } else if (IsLeak(sites[i])) {
      leaks[i].push_back(i);
    }
  }
  return leaks;
}

// Adds the figures of a site to those of the leak that it is part of, except `peak_without`.
inline void AddPart(const ReportSite& part, ReportLeak* sum) {
  sum->rate_bytes_per_step += part.rate_bytes_per_step;
  sum->rate_ci_low += part.rate_ci_low;
  sum->rate_ci_high += part.rate_ci_high;
  sum->rate_objects_per_step += part.rate_objects_per_step;
  sum->live_bytes += part.live_bytes;
  sum->bytes_at_peak += part.bytes_at_peak;
}

}  // namespace vramtrack

#endif  // ANALYZER_MODEL_WHOLE_LEAK_H_
