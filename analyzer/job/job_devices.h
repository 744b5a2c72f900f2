// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_JOB_JOB_DEVICES_H_
#define ANALYZER_JOB_JOB_DEVICES_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/job/job_process.h"
#include "analyzer/model/machine.h"
#include "analyzer/model/process_findings.h"
#include "analyzer/model/report.h"

namespace vramtrack {

// Selects the devices of the job's report. For each device number it shows the process with the most bytes on it, with
// its timeline and its peak; for host memory, the process with the most of it. Only the shown ones are kept, as these
// are most of a process's findings and a job may have a thousand ranks. Thread-compatible.
class JobDevices {
 public:
  // Moves what the report shows out of the findings of `process`, which must not move in memory. The
  // findings refer to the sites of the job.
  void Add(const JobProcess& process, ProcessFindings* findings);

  // Moves the devices into the report.
  void Finish(Report* report);

 private:
  struct Pictures {
    std::vector<ReportTimeline> timeline;
    std::vector<ReportPeakLines> lines;
    std::vector<ReportPeakStacks> stacks;
  };
  struct Shown {
    uint64_t users = 0;  // number of processes that reserved memory on it
    const JobProcess* of = nullptr;
    ReportDevice device;
    Pictures pictures;
  };

  template <class Picture>
  struct OfHost {
    const JobProcess* of = nullptr;  // null if there is none
    uint64_t height = 0;
    Picture picture;
  };
  template <class Picture>
  static void TakeHigher(const JobProcess& process, std::vector<Picture>* from, OfHost<Picture>* highest);

  std::map<uint32_t, Shown> devices_;  // by device number
  OfHost<ReportTimeline> host_;
  OfHost<ReportPeakLines> host_lines_;
  OfHost<ReportPeakStacks> host_stacks_;
};

// Puts the processes of a job that used the same card side by side. The result does not depend on the order of Add.
// Thread-compatible.
class JobCards {
 public:
  void Add(uint32_t pid, std::optional<int> rank, std::vector<CardUse> uses);

  // Returns the cards that several processes used, by UUID.
  std::vector<ReportCard> Finish();

 private:
  struct Use {
    uint32_t pid;
    std::optional<int> rank;
    CardUse use;
  };
  static ReportCard Describe(const std::vector<const Use*>& uses);

  std::vector<Use> uses_;
};

}  // namespace vramtrack

#endif  // ANALYZER_JOB_JOB_DEVICES_H_
