// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_JOB_JOB_DEVICES_H_
#define ANALYZER_JOB_JOB_DEVICES_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "analyzer/job/job_process.h"
#include "analyzer/job/site_id.h"
#include "analyzer/model/process_findings.h"
#include "analyzer/model/report.h"

namespace vramtrack {

// Of one device number the process that held most is shown, with its timeline and its peak, and of the host's memory
// the one that had most of it: they are most of what is found in a process, and those of a thousand ranks must not be
// there together. Thread-compatible.
class JobDevices {
 public:
  // Takes what is to be shown out of the findings of `process`, which must stay where it is. `joined`: the job's index
  // of a site of the process.
  void Add(const JobProcess& process, const SiteNamer& joined, ProcessFindings* findings);

  // `id`: of a site of the job.
  void Finish(const SiteNamer& id, Report* report);

 private:
  struct Pictures {
    std::vector<ReportTimeline> timeline;
    std::vector<ReportPeakLines> lines;
    std::vector<ReportPeakStacks> stacks;
  };
  struct Shown {
    uint64_t users = 0;  // processes that reserved anything on it
    const JobProcess* of = nullptr;
    ReportDevice device;
    Pictures pictures;
  };

  template <class Picture>
  struct OfHost {
    const JobProcess* of = nullptr;  // null: there is none
    uint64_t height = 0;
    Picture picture;
  };
  template <class Picture>
  static void TakeHigher(const JobProcess& process, const SiteNamer& joined, std::vector<Picture>* from,
                         OfHost<Picture>* highest);

  std::map<uint32_t, Shown> devices_;  // by number
  OfHost<ReportTimeline> host_;
  OfHost<ReportPeakLines> host_lines_;
  OfHost<ReportPeakStacks> host_stacks_;
};

}  // namespace vramtrack

#endif  // ANALYZER_JOB_JOB_DEVICES_H_
