// SPDX-License-Identifier: Apache-2.0
#include "analyzer/holders/site_holder.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "analyzer/base/quantity.h"
#include "analyzer/holders/holder_words.h"

namespace vramtrack {
namespace {

// Holders of less are not named.
constexpr double kLeastShare = 0.05;
constexpr size_t kMostHolders = 4;
// A walk counts only if it met this part of what was live at another one, and found holders for this part of it.
constexpr double kMostOf = 0.5, kNearlyAsMuch = 0.8;

// The blocks that are looked at, at one walk.
struct Looked {
  std::vector<const HeldBlocks*> blocks;
  uint64_t bytes = 0, seen_bytes = 0;
};

Looked LookAt(const BlocksAtWalk& at, const std::vector<SiteIndex>& sites, bool leak) {
  const std::set<SiteIndex> wanted(sites.begin(), sites.end());
  std::vector<const HeldBlocks*> all, earlier;
  for (const SiteIndex site : wanted) {
    auto held = std::lower_bound(at.held.begin(), at.held.end(), site,
                                 [](const HeldBlocks& one, SiteIndex of) { return one.site < of; });
    for (; held != at.held.end() && held->site == site; ++held) {
      all.push_back(&*held);
      if (held->birth_step < at.step) earlier.push_back(&*held);
    }
  }
  Looked looked;
  looked.blocks = leak && !earlier.empty() ? std::move(earlier) : std::move(all);
  for (const HeldBlocks* held : looked.blocks) {
    looked.bytes += held->bytes;
    looked.seen_bytes += held->path.is_none() ? 0 : held->bytes;
  }
  return looked;
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
  std::vector<Looked> looked;
  uint64_t most = 0, most_seen = 0;
  for (const BlocksAtWalk& at : blocks.at()) {
    looked.push_back(LookAt(at, sites, leak));
    most = std::max(most, looked.back().bytes);
  }
  if (most == 0) return std::nullopt;
  const auto has_most = [&](const Looked& one) { return ShareOfBytes(one.bytes, most) >= kMostOf; };
  for (const Looked& one : looked) {
    if (has_most(one)) most_seen = std::max(most_seen, one.seen_bytes);
  }
  SiteHolder holder;
  holder.walk = looked.size();
  do {
    --holder.walk;
  } while (!has_most(looked[holder.walk]) ||
           static_cast<double>(looked[holder.walk].seen_bytes) < kNearlyAsMuch * static_cast<double>(most_seen));
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
