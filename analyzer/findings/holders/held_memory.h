// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_FINDINGS_HOLDERS_HELD_MEMORY_H_
#define ANALYZER_FINDINGS_HOLDERS_HELD_MEMORY_H_

#include <cstddef>
#include <optional>
#include <vector>

#include "analyzer/base/indices.h"
#include "analyzer/findings/core/process_analysis.h"
#include "analyzer/holders/walked_blocks.h"
#include "analyzer/ingest/holder_walks.h"
#include "analyzer/model/holder.h"

namespace vramtrack {

// Returns the blocks of a device at a walk: those of a framework's allocator; without any, what the walk saw of others.
std::vector<const HeldBlocks*> BlocksOnDevice(const BlocksAtWalk& at, const Sites& sites, DeviceIndex device);

// Returns what the live blocks of a device were for at the last walk that saw most of them. None without such a walk.
std::optional<ReportHeld> DescribeHeldMemory(const ProcessAnalysis& analysis, const SitePurposes& purposes,
                                             const HolderWalks& walks, const std::vector<BlocksAtWalk>& at,
                                             DeviceIndex device);

}  // namespace vramtrack

#endif  // ANALYZER_FINDINGS_HOLDERS_HELD_MEMORY_H_
