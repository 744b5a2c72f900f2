// SPDX-License-Identifier: Apache-2.0
#include "analyzer/holders/site_holder.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "analyzer/base/quantity.h"

namespace vramtrack {
namespace {

// Holders of less are not named.
constexpr double kLeastShare = 0.05;
constexpr size_t kMostHolders = 4;
// A walk counts only if it met this part of what was live at another one, and found holders for this part of it.
constexpr double kMostOf = 0.5, kNearlyAsMuch = 0.8;
// One at which names held the blocks counts even with this part: growth is noticed at twice as many events each time.
constexpr double kPartOfNamed = 0.25;

// The blocks that are looked at, at one walk.
struct Looked {
  std::vector<const HeldBlocks*> blocks;
  uint64_t bytes = 0, seen_bytes = 0;
  uint64_t named_bytes = 0;  // reached from a name of the program
};

// Whether a path begins at a name of the program, and not at C++ code or at a reference cycle.
bool BeginsAtName(const HolderPaths& paths, HolderPathIndex path) {
  while (!paths[path].parent.is_none()) path = paths[path].parent;
  return paths[path].step != schema::HOLDER_OUTSIDE && paths[path].step != schema::HOLDER_GARBAGE;
}

Looked LookAt(const BlocksAtWalk& at, const HolderPaths& paths, const std::vector<SiteIndex>& sites,
              bool only_earlier) {
  const std::set<SiteIndex> wanted(sites.begin(), sites.end());
  Looked looked;
  for (const SiteIndex site : wanted) {
    auto held = std::lower_bound(at.held.begin(), at.held.end(), site,
                                 [](const HeldBlocks& one, SiteIndex of) { return one.site < of; });
    for (; held != at.held.end() && held->site == site; ++held) {
      if (!only_earlier || held->birth_step < at.step) looked.blocks.push_back(&*held);
    }
  }
  for (const HeldBlocks* held : looked.blocks) {
    looked.bytes += held->bytes;
    if (held->path.is_none()) continue;
    looked.seen_bytes += held->bytes;
    if (BeginsAtName(paths, held->path)) looked.named_bytes += held->bytes;
  }
  return looked;
}

// At each walk. Of a leak: what earlier steps left behind, if any walk met it.
std::vector<Looked> LookAtAll(const HolderWalks& walks, const WalkedBlocks& blocks, const std::vector<SiteIndex>& sites,
                              bool leak) {
  std::vector<Looked> looked;
  for (const bool only_earlier : {true, false}) {
    if (only_earlier && !leak) continue;
    looked.clear();
    for (const BlocksAtWalk& at : blocks.at()) looked.push_back(LookAt(at, walks.paths(), sites, only_earlier));
    if (std::any_of(looked.begin(), looked.end(), [](const Looked& one) { return one.bytes > 0; })) break;
  }
  return looked;
}

// The walk that tells most; none if no walk met any of the blocks.
std::optional<size_t> ChooseWalk(const std::vector<Looked>& looked) {
  uint64_t most = 0, most_seen = 0;
  for (const Looked& one : looked) most = std::max(most, one.bytes);
  if (most == 0) return std::nullopt;
  const auto has = [most](const Looked& one, double part) { return ShareOfBytes(one.bytes, most) >= part; };
  for (const Looked& one : looked) {
    if (has(one, kMostOf)) most_seen = std::max(most_seen, one.seen_bytes);
  }
  size_t chosen = looked.size();
  do {
    --chosen;
  } while (!has(looked[chosen], kMostOf) ||
           static_cast<double>(looked[chosen].seen_bytes) < kNearlyAsMuch * static_cast<double>(most_seen));
  // When a function has ended, a cycle may still keep what it held, such as a trainer with its callbacks: an earlier
  // walk knows the function's names.
  const auto names = [](const Looked& one) { return ShareOfBytes(one.named_bytes, one.bytes) >= kMainHolder; };
  if (names(looked[chosen])) return chosen;
  for (size_t i = chosen; i-- > 0;) {
    if (names(looked[i]) && has(looked[i], kPartOfNamed)) return i;
  }
  return chosen;
}

}  // namespace

std::vector<HeldPath> PathsOf(const std::vector<const HeldBlocks*>& blocks) {
  std::map<HolderPathIndex, HeldPath> by_path;
  for (const HeldBlocks* held : blocks) {
    HeldPath& sum = by_path[held->path];
    sum.path = held->path;
    sum.bytes += held->bytes;
    sum.objects += held->objects;
  }
  std::vector<HeldPath> paths;
  for (const auto& [path, sum] : by_path) paths.push_back(sum);
  return paths;
}

std::optional<SiteHolder> HolderOf(const std::vector<SiteIndex>& sites, const HolderWalks& walks,
                                   const WalkedBlocks& blocks, bool leak) {
  std::vector<Looked> looked = LookAtAll(walks, blocks, sites, leak);
  const std::optional<size_t> best = ChooseWalk(looked);
  if (!best) return std::nullopt;
  SiteHolder holder;
  holder.walk = *best;
  holder.blocks = std::move(looked[holder.walk].blocks);
  holder.bytes = looked[holder.walk].bytes;
  holder.chosen =
      ChooseHolders(walks.paths(), walks.all()[holder.walk], PathsOf(holder.blocks), kMostHolders, kLeastShare);
  return holder;
}

std::string WhyGrowthMayEnd(const SiteHolder& holder, uint64_t live_objects, uint64_t device_bytes) {
  if (holder.chosen.empty()) return "";
  const ChosenHolder& first = holder.chosen[0];
  const PathStep& container = first.steps[first.holder];
  if (!first.entries || ShareOfBytes(first.bytes, holder.bytes) < kMainHolder) return "";
  if (container.entries == 0 || container.limit <= container.entries) return "";
  // How much there will be with all entries.
  const double times = static_cast<double>(container.limit) / static_cast<double>(container.entries);
  const double objects = times * static_cast<double>(first.holder_objects);
  const double bytes = times * static_cast<double>(first.holder_bytes);
  if (objects <= static_cast<double>(live_objects)) return "";
  if (device_bytes > 0 && bytes >= static_cast<double>(device_bytes)) return "";
  return absl::StrCat(PathText(first.steps, first.holder + 1), ", which keeps it, takes ", FormatCount(container.limit),
                      " entries at most and had ", FormatCount(container.entries), ": with all of them it would hold ",
                      FormatByteCount(bytes), ", and the growth may end there");
}

}  // namespace vramtrack
