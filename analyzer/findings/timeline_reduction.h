// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_FINDINGS_TIMELINE_REDUCTION_H_
#define ANALYZER_FINDINGS_TIMELINE_REDUCTION_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "analyzer/findings/process_findings.h"

namespace vramtrack {

// Timelines are most of what is found in a process, and of a job's only one for each device number is shown. Drops the
// others while processes come one by one, so that those of a thousand ranks are never there together.
// Thread-compatible.
class TimelineReduction {
 public:
  // To be called when a process has been added at the end. What JoinFindings makes of them stays the same.
  void OnAdded(std::vector<ProcessFindings>* processes);

 private:
  struct Best {
    size_t process;
    uint64_t bytes;
  };
  std::map<uint32_t, Best> best_;  // by device number: who reserved most
  bool has_host_ = false;
  Best host_{};  // whose memory of the host came highest
};

}  // namespace vramtrack

#endif  // ANALYZER_FINDINGS_TIMELINE_REDUCTION_H_
