// SPDX-License-Identifier: Apache-2.0
//
// The names that lead to the modules of a model as the frames of stacks.
#ifndef ANALYZER_EXPORT_MODULE_FRAMES_H_
#define ANALYZER_EXPORT_MODULE_FRAMES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "analyzer/export/exported_process.h"

namespace vramtrack {

struct ModuleStack {
  std::string device;               // "cuda:0 at step 48, walk 2"
  std::vector<std::string> frames;  // outermost first; the last one is the category or what holds the blocks
  uint64_t value = 0;
};

// Returns the live memory of each device of a process by module, at its walk nearest to the peak. The error is one
// line: no walk of the trace saw a device.
absl::StatusOr<std::vector<ModuleStack>> ModuleStacks(ExportedProcess& process);

}  // namespace vramtrack

#endif  // ANALYZER_EXPORT_MODULE_FRAMES_H_
