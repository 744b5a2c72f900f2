// SPDX-License-Identifier: Apache-2.0
#include "analyzer/peaks/nvtx_names.h"

namespace vramtrack {

NvtxRanges::NvtxRanges(const Trace& trace) : trace_(trace), paths_(1), threads_(trace.threads().size()) {}

void NvtxRanges::OnAllocate(const ReplayAllocation& allocated) {
  if (!threads_.Has(allocated.slot)) return;
  Path path = threads_[allocated.slot].path;
  if (path == kNoRange && with_ranges_.size() == 1) path = threads_[*with_ranges_.begin()].path;
  if (path == kUnknown) {
    sites_.CountWithoutKey(allocated.allocation.site);
  } else {
    sites_.Count(allocated.allocation.site, path);
  }
}

NvtxRanges::Path NvtxRanges::PathOf(Path outer, uint32_t name) {
  if (outer == kUnknown) return kUnknown;
  const auto found = path_index_.find({outer, name});
  if (found != path_index_.end()) return found->second;
  if (paths_.size() == kMostPaths) return kUnknown;
  const Path path = static_cast<Path>(paths_.size());
  paths_.push_back({outer, name, {}, false});
  path_index_.emplace(std::make_pair(outer, name), path);
  return path;
}

void NvtxRanges::NoteOpen(ThreadSlot slot) {
  if (threads_[slot].open.empty()) {
    with_ranges_.erase(slot);
  } else {
    with_ranges_.insert(slot);
  }
}

void NvtxRanges::Push(ThreadSlot slot, const Open& range, StackIndex stack) {
  Thread& thread = threads_[slot];
  if (thread.open.size() == kDeepest) {
    thread.too_deep += range.started == 0;
    return;
  }
  thread.path = PathOf(thread.path, range.name);
  thread.open.push_back(range);
  thread.open.back().path = thread.path;
  NoteOpen(slot);
  // Ranges from before the first CUDA call have no stack.
  if (thread.path == kUnknown || stack == kEmptyStack) return;
  Known& known = paths_[thread.path];
  if (std::find(known.opened.begin(), known.opened.end(), stack) != known.opened.end()) return;
  known.more |= known.opened.size() == kMostPlaces;
  if (!known.more) known.opened.push_back(stack);
}

// Ranges that were opened after it stay open.
void NvtxRanges::Close(ThreadSlot slot, size_t open) {
  Thread& thread = threads_[slot];
  thread.open.erase(thread.open.begin() + static_cast<ptrdiff_t>(open));
  thread.path = open == 0 ? kNoRange : thread.open[open - 1].path;
  for (size_t i = open; i < thread.open.size(); ++i) {
    thread.path = thread.open[i].path = PathOf(thread.path, thread.open[i].name);
  }
  NoteOpen(slot);
}

void NvtxRanges::OnOtherEvent(const StreamEvent& event) {
  // Of the past of a trace of bounded size, marks are sums without their order.
  if (event.operation != schema::MARK || event.past || !threads_.Has(event.slot)) return;
  const uint32_t kind = event.shape->kind;
  const auto name = static_cast<uint32_t>(event.value[0]);
  const uint64_t number = event.value[1];
  if ((kind == schema::MARK_RANGE_START || kind == schema::MARK_RANGE_END) && number == 0) return;
  if (kind == schema::MARK_RANGE_END) {
    for (const ThreadSlot slot : with_ranges_) {
      const std::vector<Open>& open = threads_[slot].open;
      const auto range =
          std::find_if(open.begin(), open.end(), [number](const Open& one) { return one.started == number; });
      if (range != open.end()) return Close(slot, static_cast<size_t>(range - open.begin()));
    }
    return;
  }
  if (kind != schema::MARK_RANGE_PUSH && kind != schema::MARK_RANGE_POP && kind != schema::MARK_RANGE_START) return;
  Thread* const thread = &threads_[event.slot];
  if (kind == schema::MARK_RANGE_POP) {
    // Its name is its domain's. The innermost one of the domain ends.
    if (thread->too_deep > 0) {
      --thread->too_deep;
      return;
    }
    for (size_t i = thread->open.size(); i-- > 0;) {
      if (thread->open[i].started == 0 && thread->open[i].domain == name) return Close(event.slot, i);
    }
    return;
  }
  const std::map<uint32_t, uint32_t>& domains = trace_.definitions().domains;
  const auto domain = domains.find(name);
  Open range;
  range.domain = domain == domains.end() ? 0 : domain->second;
  range.started = kind == schema::MARK_RANGE_START ? number : 0;
  range.name = name;
  Push(event.slot, range, trace_.definitions().stacks.Distinct(event.shape->ref));
}

std::string NvtxRanges::Text(Path path) const {
  std::vector<std::string> names;
  for (; path != kNoRange; path = paths_[path].outer) {
    const auto name = trace_.definitions().names.find(paths_[path].name);
    if (name == trace_.definitions().names.end() || name->second.empty()) continue;
    if (names.size() == kShown) {
      names.emplace_back("...");
      break;
    }
    names.push_back(name->second);
  }
  std::string text;
  for (auto name = names.rbegin(); name != names.rend(); ++name) {
    if (!text.empty()) text += " > ";
    text += *name;
  }
  return text;
}

std::optional<NvtxRanges::Range> NvtxRanges::Of(const std::vector<SiteIndex>& sites) const {
  const std::optional<SiteKeyCounts::Most> most = sites_.MostFrequent(sites);
  if (!most || most->key == kNoRange) return std::nullopt;
  const Known& known = paths_[most->key];
  Range range = {Text(most->key), most->share, known.more ? std::vector<StackIndex>() : known.opened};
  if (range.path.empty()) return std::nullopt;
  return range;
}

void MemoryNames::OnOtherEvent(const StreamEvent& event) {
  if (event.operation != schema::MARK || event.shape->kind != schema::MARK_MEMORY_NAME || event.past) return;
  // MARK_MEMORY_NAME says how an allocation is numbered.
  constexpr int kOrdinalBits = 40;
  if (event.value[1] == 0) return;
  const uint64_t identity = event.value[1] - 1;
  const ThreadSlot slot = trace_.SlotOf(static_cast<uint32_t>(identity >> kOrdinalBits));
  if (slot.is_none()) return;
  const LiveAllocation* allocation = ledger_->live().Find(slot, identity & ((uint64_t{1} << kOrdinalBits) - 1));
  if (allocation == nullptr) return;
  const auto name = static_cast<uint32_t>(event.value[0]);
  if (name == 0) {
    sites_.CountWithoutKey(allocation->site);
  } else {
    sites_.Count(allocation->site, name);
  }
}

std::optional<MemoryNames::Name> MemoryNames::Of(const std::vector<SiteIndex>& sites) const {
  const std::optional<SiteKeyCounts::Most> most = sites_.MostFrequent(sites);
  if (!most) return std::nullopt;
  const auto text = trace_.definitions().names.find(most->key);
  if (text == trace_.definitions().names.end() || text->second.empty()) return std::nullopt;
  return Name{text->second, most->share};
}

}  // namespace vramtrack
