// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_SUMMARY_PROCESS_SUMMARY_H_
#define ANALYZER_SUMMARY_PROCESS_SUMMARY_H_

#include <cstdint>
#include <string>
#include <tuple>

#include "analyzer/model/process_findings.h"
#include "analyzer/profile/step_profile.h"

namespace vramtrack {

// One process, and no other in the world.
struct ProcessIdentity {
  std::string host;
  uint64_t start_unix_ns = 0;  // of its recording
  uint32_t pid = 0;

  bool operator<(const ProcessIdentity& other) const {
    return std::tie(host, start_unix_ns, pid) < std::tie(other.host, other.start_unix_ns, other.pid);
  }
  bool operator==(const ProcessIdentity& other) const {
    return std::tie(host, start_unix_ns, pid) == std::tie(other.host, other.start_unix_ns, other.pid);
  }
};

// How much of a process's curves is kept: the more processes are in a summary, the less of each.
enum class Detail : uint32_t { kFull = 0, kJob = 1, kFleet = 2 };

// What a summary knows of a process.
struct ProcessSummary {
  ProcessIdentity identity;
  std::string tool_version;
  ProcessFindings findings;
  StepProfile profile;  // what other runs are compared with
};

}  // namespace vramtrack

#endif  // ANALYZER_SUMMARY_PROCESS_SUMMARY_H_
