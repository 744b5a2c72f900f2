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

}  // namespace vramtrack

#endif  // ANALYZER_JOB_JOB_WARNINGS_H_
