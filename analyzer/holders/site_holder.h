// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_HOLDERS_SITE_HOLDER_H_
#define ANALYZER_HOLDERS_SITE_HOLDER_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/base/indices.h"
#include "analyzer/holders/holder_choice.h"
#include "analyzer/holders/walked_blocks.h"

namespace vramtrack {

// A path that explains less of the bytes is one of several.
constexpr double kMainHolder = 0.5;

// Who holds the blocks of some sites, according to the walk that says most about them.
struct SiteHolder {
  size_t walk = 0;                        // index in HolderWalks::all()
  std::vector<const HeldBlocks*> blocks;  // that were looked at
  uint64_t bytes = 0;                     // of these
  std::vector<ChosenHolder> chosen;       // the one of most bytes first; empty if the walk found none of the blocks
};

// Returns the sums of the blocks by path.
std::vector<HeldPath> PathsOf(const std::vector<const HeldBlocks*>& blocks);

// Chooses the walk that tells most: the last one that met most of what was live at any, unless only an earlier one
// knows names of the program. Of a leak, only blocks that earlier steps left behind are looked at, if there are any.
// Returns nothing if none of the sites' blocks was live at a walk. The result points into `blocks`, which must have
// followed a whole replay.
std::optional<SiteHolder> HolderOf(const std::vector<SiteIndex>& sites, const HolderWalks& walks,
                                   const WalkedBlocks& blocks, bool leak);

// Returns why growth may stop, if the container that holds a leak's blocks says that it takes more than it had
// at the walk: "`replay.frames` (a deque, 120 entries) takes 500 at most". Returns "" if nothing says so, if by their
// number, `live_objects` at the end, there are more already, or if so many need more than `device_bytes` (0: unknown).
std::string WhyGrowthMayEnd(const SiteHolder& holder, uint64_t live_objects, uint64_t device_bytes);

}  // namespace vramtrack

#endif  // ANALYZER_HOLDERS_SITE_HOLDER_H_
