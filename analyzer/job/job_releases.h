// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_JOB_JOB_RELEASES_H_
#define ANALYZER_JOB_JOB_RELEASES_H_

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "analyzer/job/job_process.h"
#include "analyzer/model/report.h"

namespace vramtrack {

// Joins the releases that a job's processes made from the same place. Thread-compatible.
class JobReleases {
 public:
  // `process` must not move in memory.
  void Add(const JobProcess& process, std::vector<ReportRelease> releases);

  // Returns the joined releases, most bytes first.
  std::vector<ReportRelease> Finish();

 private:
  struct Place {
    ReportRelease sum;
    const JobProcess* first;  // the first process that released memory there, and the index of that release in it
    size_t index;
    const JobProcess* last;  // the process that was added last
    const JobProcess* most;  // the process that released most, and how much
    uint64_t most_bytes;
  };

  std::vector<Place> places_;
  std::unordered_map<size_t, std::vector<size_t>> by_hash_;
};

}  // namespace vramtrack

#endif  // ANALYZER_JOB_JOB_RELEASES_H_
