// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_INGEST_PROCESS_STATE_H_
#define ANALYZER_INGEST_PROCESS_STATE_H_

#include <string>

#include "analyzer/ingest/definitions.h"

namespace vramtrack {

enum class ProcessState {
  kUnknown,  // of another host, or we may not look
  kRunning,  // it has the trace mapped
  kEnded,
};

// Whether `process` still writes the trace at `path`, as far as this machine can tell.
ProcessState StateOf(const TracedProcess& process, const std::string& path);

}  // namespace vramtrack

#endif  // ANALYZER_INGEST_PROCESS_STATE_H_
