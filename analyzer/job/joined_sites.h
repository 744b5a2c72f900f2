// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_JOB_JOINED_SITES_H_
#define ANALYZER_JOB_JOINED_SITES_H_

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "analyzer/job/job_process.h"
#include "analyzer/model/report.h"

namespace vramtrack {

// The sites of a job's processes: the same site in several processes becomes one. Its verdict, with all that explains
// it, is that of the process where it is worst; its figures are the sums. A process's own figures stay as a row of
// numbers. Thread-compatible.
class JoinedSites {
 public:
  // `sites`: of a process, whose part_of names indices of them. `process` must stay where it is.
  std::vector<SiteRow> Add(const JobProcess& process, std::vector<ReportSite> sites);

  // With ids, the parts of leaks put together, in the order in which the sites came first. `processes`: all of them, in
  // their order. Nothing can be added later.
  std::vector<ReportSite> Finish(const std::vector<const JobProcess*>& processes);

  // The same code on another device is the same place: of each site the number of its place.
  const std::vector<uint32_t>& places() const { return places_; }

  // Of each site the one that leads its leak, or itself. Known when it is finished.
  const std::vector<uint32_t>& leaders() const { return leaders_; }

 private:
  struct Sums {
    uint64_t allocations = 0, frees = 0, bytes_allocated = 0, live_objects = 0, live_bytes = 0, bytes_at_peak = 0;
    uint64_t peak_without_site = 0;  // the highest
  };

  uint32_t IndexOf(const JobProcess& process, const ReportSite& site);

  std::vector<ReportSite> worst_;            // of each site what the process said that gave the verdict
  std::vector<const JobProcess*> worst_of_;  // which that was
  std::vector<Sums> sums_;
  std::vector<uint32_t> places_, leaders_;
  std::unordered_map<size_t, std::vector<uint32_t>> by_hash_;  // sites by the hash of their places
  uint32_t place_count_ = 0;
};

// Leaks first, worst first; then by bytes at the peak. Of two that are as bad, the one with the lower id.
bool IsWorse(const ReportSite& a, const ReportSite& b);

}  // namespace vramtrack

#endif  // ANALYZER_JOB_JOINED_SITES_H_
