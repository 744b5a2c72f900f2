// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_FINDINGS_CORE_KNOWN_FINDINGS_H_
#define ANALYZER_FINDINGS_CORE_KNOWN_FINDINGS_H_

#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/model/process_findings.h"

namespace vramtrack {

// Keeps the findings that a comparison made on single processes, so that a report on them does not read their traces
// again. Thread-safe.
class KnownFindings {
 public:
  // Nothing is kept of a larger job: it would not fit into memory.
  static constexpr size_t kMostProcesses = 64;

  // `paths`: the traces that will be reported on.
  explicit KnownFindings(const std::vector<std::string>& paths) {
    if (paths.size() <= kMostProcesses) wanted_.insert(paths.begin(), paths.end());
  }

  bool Wants(const std::string& path) const { return wanted_.count(path) != 0; }

  void Add(const std::string& path, ProcessFindings findings) {
    std::lock_guard<std::mutex> lock(mutex_);
    found_.insert_or_assign(path, std::move(findings));
  }

  // Removes and returns the findings on a trace; none for a trace that was not compared.
  std::optional<ProcessFindings> Take(const std::string& path) {
    std::lock_guard<std::mutex> lock(mutex_);
    const auto found = found_.find(path);
    if (found == found_.end()) return std::nullopt;
    std::optional<ProcessFindings> findings = std::move(found->second);
    found_.erase(found);
    return findings;
  }

 private:
  std::set<std::string> wanted_;
  std::mutex mutex_;
  std::map<std::string, ProcessFindings> found_;
};

}  // namespace vramtrack

#endif  // ANALYZER_FINDINGS_CORE_KNOWN_FINDINGS_H_
