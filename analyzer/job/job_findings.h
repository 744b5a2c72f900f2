// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_JOB_JOB_FINDINGS_H_
#define ANALYZER_JOB_JOB_FINDINGS_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "analyzer/job/job_devices.h"
#include "analyzer/job/job_process.h"
#include "analyzer/job/joined_sites.h"
#include "analyzer/model/process_findings.h"
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

// Joins the warnings of a job's processes. Equal warnings are given once. Of warnings that differ only in their
// digits, such as in file names, those of the first few processes are given and the others are counted.
// Thread-compatible.
class JobWarnings {
 public:
  // `process` must not move in memory.
  void Add(const JobProcess& process, std::vector<std::string> warnings);

  // Returns the warnings in the order of the processes; similar ones are adjacent.
  std::vector<std::string> Finish() const;

 private:
  struct Before {
    bool operator()(const JobProcess* a, const JobProcess* b) const { return IsBefore(*a, *b); }
  };
  struct Line {
    size_t index;  // index among the process's warnings
    std::string text;
  };
  struct Alike {
    std::map<const JobProcess*, std::vector<Line>, Before> of_first;
    std::unordered_set<size_t> different;  // hashes of all texts
  };

  std::map<std::string, Alike> by_form_;
};

// Joins the findings of a job's processes, one process at a time. It keeps only what the job's report needs, so a job
// may have ten thousand processes. The same site in several processes becomes one, with the sum of their figures; a
// device number that several processes use is described by the process with the most bytes on it. The result does not
// depend on the order of Add, except for processes that IsBefore does not distinguish. Thread-compatible.
class FindingsJoin {
 public:
  void Add(ProcessFindings findings);

  // Returns the report on all processes that were added. Nothing can be added later.
  Report Finish();

 private:
  // Of several processes, the one in which it grew most.
  struct MostGrown {
    std::optional<ReportGrowthLedger> ledger;
    const JobProcess* of = nullptr;
  };

  void KeepFirstFailures();
  static void TakeMore(const JobProcess& process, std::optional<ReportGrowthLedger>* growth, MostGrown* most);

  std::deque<JobProcess> processes_;  // a deque, as others point to its elements
  JoinedSites sites_;
  JobDevices devices_;
  JobReleases releases_;
  JobWarnings warnings_, reasons_;
  MostGrown pinned_growth_, handle_growth_;
  JobCards cards_;
  std::optional<ReportHost> host_;
  ReportSteps steps_;  // of the process with the most steps
  const JobProcess* steps_of_ = nullptr;
  std::map<std::string, uint64_t> verdict_counts_;
  size_t failures_ = 0, failures_kept_ = 0;  // failed allocations
};

// Joins the findings of processes that are all in memory.
Report JoinFindings(std::vector<ProcessFindings> processes);

}  // namespace vramtrack

#endif  // ANALYZER_JOB_JOB_FINDINGS_H_
