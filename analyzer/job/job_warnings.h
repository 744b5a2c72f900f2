// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_JOB_JOB_WARNINGS_H_
#define ANALYZER_JOB_JOB_WARNINGS_H_

#include <cstddef>
#include <map>
#include <string>
#include <unordered_set>
#include <vector>

#include "analyzer/job/job_process.h"

namespace vramtrack {

// The warnings of a job's processes: the same one is given once, and of those that differ only in their figures, as the
// names of files do, the ones of the first few processes are given and the others counted. Thread-compatible.
class JobWarnings {
 public:
  // `process` must stay where it is.
  void Add(const JobProcess& process, std::vector<std::string> warnings);

  // In the order of the processes, those that are alike together.
  std::vector<std::string> Finish() const;

 private:
  struct Before {
    bool operator()(const JobProcess* a, const JobProcess* b) const { return IsBefore(*a, *b); }
  };
  struct Line {
    size_t index;  // among the process's warnings
    std::string text;
  };
  struct Alike {
    std::map<const JobProcess*, std::vector<Line>, Before> of_first;
    std::unordered_set<size_t> different;  // hashes of all texts
  };

  std::map<std::string, Alike> by_form_;
};

}  // namespace vramtrack

#endif  // ANALYZER_JOB_JOB_WARNINGS_H_
