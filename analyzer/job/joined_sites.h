// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_JOB_JOINED_SITES_H_
#define ANALYZER_JOB_JOINED_SITES_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "analyzer/job/job_process.h"
#include "analyzer/model/report.h"

namespace vramtrack {

// Joins the sites of a job's processes: the same site in several processes becomes one. Its verdict and the
// explanation are those of the process with the worst verdict; its figures are sums. The figures of each process are
// kept in a SiteRow. Thread-compatible.
class JoinedSites {
 public:
  // Adds the sites of a process and returns its figures. `process` must not move in memory.
  std::vector<SiteRow> Add(const JobProcess& process, std::vector<ReportSite> sites);

  // Returns the sites with ids and with the parts of leaks joined, in the order in which they were first added.
  // `processes`: all of them, in the job's order. Nothing can be added later.
  std::vector<ReportSite> Finish(const std::vector<const JobProcess*>& processes);

  // Returns the number of the place of each site. The same code on another device is the same place.
  using Places = IndexedVector<ReportSiteIndex, uint32_t>;
  const Places& places() const { return places_; }

 private:
  struct Sums {
    uint64_t allocations = 0, frees = 0, bytes_allocated = 0, live_objects = 0, live_bytes = 0, bytes_at_peak = 0;
    uint64_t peak_without_site = 0;  // the highest of the processes
  };
  struct Joined {
    ReportSite worst;                      // the site of the process with the worst verdict
    const JobProcess* worst_of = nullptr;  // that process
    // The holder that the first process in the job's order found, for a worst process without walks.
    std::unique_ptr<ReportHolder> holder;
    const JobProcess* holder_of = nullptr;  // that process
    Sums sums;
  };

  ReportSiteIndex IndexOf(const JobProcess& process, const ReportSite& site);

  IndexedVector<ReportSiteIndex, Joined> joined_;
  Places places_;
  std::unordered_map<size_t, std::vector<ReportSiteIndex>> by_hash_;  // sites by the hash of their places
  uint32_t place_count_ = 0;
};

// Returns whether `a` is worse than `b`: leaks first, worst first, then by bytes at the peak. Of two equally bad
// sites, the one with the lower id is first.
bool IsWorse(const ReportSite& a, const ReportSite& b);

}  // namespace vramtrack

#endif  // ANALYZER_JOB_JOINED_SITES_H_
