// SPDX-License-Identifier: Apache-2.0
#include "analyzer/job/job_process.h"

#include <functional>
#include <tuple>

namespace vramtrack {

bool IsBefore(const JobProcess& a, const JobProcess& b) {
  const auto key = [](const ReportProcess& process) {
    return std::make_tuple(!process.rank.has_value(), process.rank.value_or(0), process.pid, process.parent_pid,
                           std::cref(process.command), process.events, process.lost_events, process.duration_s);
  };
  return key(a.process) < key(b.process);
}

}  // namespace vramtrack
