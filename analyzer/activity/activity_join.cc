// SPDX-License-Identifier: Apache-2.0
#include "analyzer/activity/activity_join.h"

#include <algorithm>
#include <utility>

#include "analyzer/attribution/library.h"
#include "analyzer/ledger/kind.h"

namespace vramtrack {
namespace {

// Events of arrays have a handle, records of them an address: those of one size meet in their order.
constexpr uint64_t kArrays = UINT64_MAX;

// How far the two clocks may be apart where they were not read together.
constexpr double kClockToleranceS = 10e-6;

// Kinds of memory that the driver gives out by itself.
bool IsGivenOut(uint32_t kind) {
  return LevelOf(kind) == Level::kDriver && !IsForeignMemory(kind) && kind != schema::REGISTERED &&
         kind != schema::ADDRESS_RANGE && kind != schema::EXTERNAL_MAPPING && kind != schema::KIND_NONE;
}

bool IsArray(uint32_t kind) { return kind == schema::ARRAY || kind == schema::MIPMAPPED_ARRAY; }

// The latest entry that fits and has these bytes, or else, unless they must be the same, the latest that fits;
// `entries.size()` for none.
template <typename Entry, typename Fits>
size_t Counterpart(const std::vector<Entry>& entries, uint64_t bytes, bool same_bytes, Fits fits) {
  size_t found = entries.size();
  for (size_t i = entries.size(); i-- > 0;) {
    if (!fits(entries[i])) continue;
    if (entries[i].bytes == bytes) return i;
    if (!same_bytes && found == entries.size()) found = i;
  }
  return found;
}

}  // namespace

ActivityJoin::ActivityJoin(const Trace& trace) : stream_(trace) {
  gaps_ = stream_.Gaps(UINT64_MAX);
  hooked_in_gap_.resize(gaps_.size());
  tolerance_ = static_cast<uint64_t>(trace.clock().ticks_per_second() * kClockToleranceS);
  has_record_ = stream_.Next(&record_, &record_ticks_);
  // A tracer that says late that it has begun has told of what came before.
  if (has_record_ && !gaps_.empty() && gaps_[0].begin < record_ticks_) {
    gaps_[0].end = std::min(gaps_[0].end, record_ticks_);
  }
}

void ActivityJoin::ReadUntil(uint64_t ticks) {
  for (; has_record_ && record_ticks_ <= ticks; has_record_ = stream_.Next(&record_, &record_ticks_)) {
    if (record_.kind == schema::ACTIVITY_MEMORY) Tell(record_, record_ticks_);
  }
}

void ActivityJoin::Tell(const ActivityRecord& record, uint64_t ticks) {
  const uint64_t key = record.memory == kActivityArray ? kArrays : record.address;
  if (record.operation == kActivityReleased) {
    const auto found = waiting_.find(key);
    if (found == waiting_.end()) return;
    std::vector<Told>& told = found->second.told;
    const auto it = std::find_if(told.rbegin(), told.rend(), [&](const Told& one) {
      return one.address == record.address && one.released_ticks == 0;
    });
    if (it != told.rend()) it->released_ticks = ticks;
    return;
  }
  if (record.operation != kActivityAllocated) return;
  const Told told = {record.address, record.bytes, record.text, record.memory, record.device, 0};
  Waiting& waiting = waiting_[key];
  const bool is_array = key == kArrays;
  // It is of before the event, and comes after it only as far as the clocks disagree.
  const size_t i = Counterpart(waiting.hooked, told.bytes, is_array,
                               [&](const Hooked& hooked) { return ticks <= hooked.ticks + tolerance_; });
  if (i < waiting.hooked.size()) {
    Join(waiting.hooked[i], told);
    waiting.hooked.erase(waiting.hooked.begin() + static_cast<ptrdiff_t>(i));
    if (waiting.hooked.empty() && waiting.told.empty()) waiting_.erase(key);
    return;
  }
  waiting.told.push_back(told);
  if (!is_array && waiting.told.size() > kMostWaiting) {
    AddOnlyCupti(waiting.told.front());
    waiting.told.erase(waiting.told.begin());
  }
}

void ActivityJoin::OnAllocate(const ReplayAllocation& allocated) {
  const LiveAllocation& allocation = allocated.allocation;
  const uint32_t kind = ledger_->sites()[allocation.site].key.kind;
  if (!IsGivenOut(kind)) return;
  const uint64_t ticks = ledger_->last_ticks();
  ReadUntil(ticks);
  const Hooked hooked = {ticks, allocation.bytes, kind};
  const uint64_t key = IsArray(kind) ? kArrays : allocation.address;
  Waiting& waiting = waiting_[key];
  const bool is_array = key == kArrays;
  const size_t i = Counterpart(waiting.told, hooked.bytes, is_array, [&](const Told& told) {
    return told.released_ticks == 0 || told.released_ticks + tolerance_ >= ticks;
  });
  if (i < waiting.told.size()) {
    Join(hooked, waiting.told[i]);
    waiting.told.erase(waiting.told.begin() + static_cast<ptrdiff_t>(i));
  } else {
    waiting.hooked.push_back(hooked);
    if (!is_array && waiting.hooked.size() > kMostWaiting) {
      AddOnlyHooks(waiting.hooked.front());
      waiting.hooked.erase(waiting.hooked.begin());
    }
  }
  if (waiting.hooked.empty() && waiting.told.empty()) waiting_.erase(key);
}

void ActivityJoin::Join(const Hooked& hooked, const Told& told) {
  ++joined_;
  joined_bytes_ += hooked.bytes;
  other_sizes_ += hooked.bytes != told.bytes;
  ++joined_kinds_[hooked.kind];
}

void ActivityJoin::AddOnlyHooks(const Hooked& hooked) {
  // A mapping is no memory of its own: that it is joined where CUPTI tells of it is enough.
  if (hooked.kind == schema::MAPPING) return;
  for (size_t i = 0; i < gaps_.size(); ++i) {
    if (hooked.ticks < gaps_[i].begin || hooked.ticks > gaps_[i].end) continue;
    ++hooked_in_gap_[i];
    return;
  }
  OnlyHooks& sum = only_hooks_[hooked.kind];
  ++sum.allocations;
  sum.bytes += hooked.bytes;
}

void ActivityJoin::AddOnlyCupti(const Told& told) {
  OnlyCupti& sum = only_cupti_[{std::string(ModuleName(stream_.Text(told.text))), told.memory, told.device}];
  ++sum.allocations;
  sum.bytes += told.bytes;
  if (told.released_ticks != 0) return;
  ++sum.live_objects;
  sum.live_bytes += told.bytes;
}

void ActivityJoin::Finish() {
  ReadUntil(UINT64_MAX);
  for (const auto& [key, waiting] : waiting_) {
    for (const Hooked& hooked : waiting.hooked) AddOnlyHooks(hooked);
    for (const Told& told : waiting.told) AddOnlyCupti(told);
  }
  waiting_.clear();
  std::vector<ActivityGap> kept;
  for (size_t i = 0; i < gaps_.size(); ++i) {
    gaps_[i].end = std::min(gaps_[i].end, ledger_->last_ticks());
    if (hooked_in_gap_[i] != 0 || gaps_[i].stopped) kept.push_back(gaps_[i]);
  }
  gaps_ = std::move(kept);
}

}  // namespace vramtrack
