// SPDX-License-Identifier: Apache-2.0
#include "analyzer/ingest/traced_stacks.h"

#include <algorithm>

namespace vramtrack {
namespace {

uint64_t HashOf(const StackRef& stack) {
  uint64_t hash = stack.count;
  for (size_t i = 0; i < stack.count; ++i) {
    hash = (hash ^ stack.frames[i]) * 0x9e3779b97f4a7c15;
    hash ^= hash >> 29;
  }
  return hash;
}

bool SameStack(const StackRef& a, const StackRef& b, const LoadedModules& modules) {
  if (a.count != b.count || !std::equal(a.frames, a.frames + a.count, b.frames)) return false;
  if (a.module_epoch == b.module_epoch) return true;
  // The same addresses may have been another library's in between.
  for (size_t i = 0; i < a.count; ++i) {
    if (modules.Find(a.frames[i], a.module_epoch) != modules.Find(b.frames[i], b.module_epoch)) return false;
  }
  return true;
}

}  // namespace

void TracedStacks::Define(uint32_t id, const uint64_t* frames, size_t count, uint32_t module_epoch, bool truncated) {
  if (!by_id_.emplace(id, static_cast<uint32_t>(entries_.size())).second) return;
  entries_.push_back({frames_.size(), static_cast<uint32_t>(count), module_epoch, 0, truncated});
  frames_.insert(frames_.end(), frames, frames + count);
}

void TracedStacks::Freeze(const LoadedModules& modules) {
  // By number, so that what is called distinct stack 1, 2, ... does not depend on the order of blocks in the file.
  std::vector<std::pair<uint32_t, uint32_t>> order(by_id_.begin(), by_id_.end());
  std::sort(order.begin(), order.end());
  std::unordered_multimap<uint64_t, uint32_t> by_hash;  // index into entries_
  for (const auto& [id, index] : order) {
    Entry& entry = entries_[index];
    if (entry.count == 0) continue;
    const StackRef stack = RefOf(entry);
    const uint64_t hash = HashOf(stack);
    const auto [begin, end] = by_hash.equal_range(hash);
    const auto same = std::find_if(begin, end, [&](const auto& candidate) {
      return SameStack(RefOf(entries_[candidate.second]), stack, modules);
    });
    if (same != end) {
      entry.distinct = entries_[same->second].distinct;
      continue;
    }
    entry.distinct = static_cast<uint32_t>(distinct_.size());
    distinct_.push_back(index);
    by_hash.emplace(hash, index);
  }
}

StackRef TracedStacks::Get(uint32_t distinct) const {
  if (distinct == 0 || distinct >= distinct_.size()) return {};
  return RefOf(entries_[distinct_[distinct]]);
}

StackRef TracedStacks::RefOf(const Entry& entry) const {
  return {frames_.data() + entry.offset, entry.count, entry.module_epoch, entry.truncated};
}

}  // namespace vramtrack
