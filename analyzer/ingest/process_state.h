// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_INGEST_PROCESS_STATE_H_
#define ANALYZER_INGEST_PROCESS_STATE_H_

#include <string>

#include "analyzer/ingest/definitions.h"

namespace vramtrack {

enum class ProcessState {
  kUnknown,  // it ran on another host, or we have no permission to look
  kRunning,  // the process has the trace mapped
  kEnded,
};

// Returns whether `process` still writes the trace at `path`, as far as this machine can tell.
ProcessState StateOf(const TracedProcess& process, const std::string& path);

}  // namespace vramtrack

#endif  // ANALYZER_INGEST_PROCESS_STATE_H_
