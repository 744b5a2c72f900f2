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

// What a job's processes gave back from one place, together. Thread-compatible.
class JobReleases {
 public:
  // `process` must stay where it is.
  void Add(const JobProcess& process, std::vector<ReportRelease> releases);

  // The most bytes first.
  std::vector<ReportRelease> Finish();

 private:
  struct Place {
    ReportRelease sum;
    const JobProcess* first;  // of the processes that gave back from there, and where it was among its releases
    size_t index;
    const JobProcess* last;  // that was added
    const JobProcess* most;  // that gave back most in all, and how much
    uint64_t most_bytes;
  };

  std::vector<Place> places_;
  std::unordered_map<size_t, std::vector<size_t>> by_hash_;
};

}  // namespace vramtrack

#endif  // ANALYZER_JOB_JOB_RELEASES_H_
