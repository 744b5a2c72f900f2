// SPDX-License-Identifier: Apache-2.0
//
// What the live blocks of a device were for at a walk, by category and by module of the model.
#ifndef ANALYZER_FINDINGS_HOLDERS_HELD_MEMORY_H_
#define ANALYZER_FINDINGS_HOLDERS_HELD_MEMORY_H_

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/base/indices.h"
#include "analyzer/findings/core/process_analysis.h"
#include "analyzer/holders/walked_blocks.h"
#include "analyzer/ingest/holder_walks.h"
#include "analyzer/model/holder.h"

namespace vramtrack {

// What the walks of a process found. All must outlive it.
struct WalkFacts {
  const ProcessAnalysis& analysis;
  const SitePurposes& purposes;
  const HolderWalks& walks;
  const std::vector<BlocksAtWalk>& at;  // by walk
};

// Returns the blocks of a device at a walk: those of a framework's allocator; without any, what the walk saw of others.
std::vector<const HeldBlocks*> BlocksOnDevice(const BlocksAtWalk& at, const Sites& sites, DeviceIndex device);

// Returns whether the walk found what holds these blocks.
bool IsSeen(const HeldBlocks& held);
// Returns the category of blocks: that of a user's rule; what the walk says of those that it found; that of their site.
std::string CategoryOf(const WalkFacts& facts, const HeldBlocks& held);
// Returns the type of the graph node that saved what a path leads to; empty if none did.
std::string SavedBy(const HolderPaths& paths, HolderPathIndex path);

// Returns why a walk was made.
WalkMoment MomentOf(const HolderWalk& walk);

// Returns the indices of the walks that saw at least half as much of a device as any walk did; none if no walk saw any.
std::vector<size_t> WalksOf(const WalkFacts& facts, DeviceIndex device);

// Returns what the live blocks of a device were for at the last walk that saw most of them. None without such a walk.
std::optional<ReportHeld> DescribeHeldMemory(const WalkFacts& facts, DeviceIndex device);

// Returns the live blocks of a device by module and purpose, at the walk nearest to the device's peak: the one at which
// most was live, the last one of several. It is one of WalksOf; none without such a walk.
std::optional<ReportModuleMemory> DescribeModuleMemory(const WalkFacts& facts, DeviceIndex device);

}  // namespace vramtrack

#endif  // ANALYZER_FINDINGS_HOLDERS_HELD_MEMORY_H_
