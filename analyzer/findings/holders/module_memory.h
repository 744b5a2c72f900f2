// SPDX-License-Identifier: Apache-2.0
//
// The live memory of a device by module of the model.
#ifndef ANALYZER_FINDINGS_HOLDERS_MODULE_MEMORY_H_
#define ANALYZER_FINDINGS_HOLDERS_MODULE_MEMORY_H_

#include <optional>

#include "analyzer/findings/holders/held_memory.h"

namespace vramtrack {

// Returns the live blocks of a device by module and purpose, at the walk nearest to the device's peak: the one at which
// most was live, the last one of several. It is one of WalksOf; none without such a walk.
std::optional<ReportModuleMemory> DescribeModuleMemory(const WalkFacts& facts, DeviceIndex device);

}  // namespace vramtrack

#endif  // ANALYZER_FINDINGS_HOLDERS_MODULE_MEMORY_H_
