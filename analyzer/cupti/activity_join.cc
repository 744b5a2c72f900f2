// SPDX-License-Identifier: Apache-2.0
#include "analyzer/cupti/activity_join.h"

#include <algorithm>
#include <utility>

#include "analyzer/attribution/library.h"
#include "analyzer/ingest/event_stream.h"
#include "analyzer/ledger/kind.h"

namespace vramtrack {
namespace {

// Events of arrays have a handle, records of them an address: those of one size meet in their order.
constexpr uint64_t kArrays = UINT64_MAX;

// How far the two clocks may be apart where they were not read together.
constexpr double kClockToleranceS = 10e-6;
// How far they may be apart where something went wrong, such as a thread that was not run for a while in between.
constexpr double kDoubtS = 1e-3;

// Beyond any device: such a record makes no sense.
constexpr uint64_t kMaxBytes = uint64_t{1} << 48;

// Kinds of memory that the driver gives out by itself.
bool IsGivenOut(uint32_t kind) {
  return LevelOf(kind) == Level::kDriver && !IsForeignMemory(kind) && kind != schema::REGISTERED &&
         kind != schema::ADDRESS_RANGE && kind != schema::EXTERNAL_MAPPING && kind != schema::KIND_NONE;
}

bool IsArray(uint32_t kind) { return kind == schema::ARRAY || kind == schema::MIPMAPPED_ARRAY; }

uint64_t RecordedReleases(const Trace& trace) {
  uint64_t releases = 0, ticks;
  ActivityStream stream(trace);
  for (ActivityRecord record; stream.Next(&record, &ticks);) {
    releases += record.kind == schema::ACTIVITY_MEMORY && record.operation == kActivityReleased;
  }
  return releases;
}

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

ActivityJoin::ActivityJoin(const Trace& trace) : trace_(trace), stream_(trace) {
  gaps_ = stream_.Gaps(UINT64_MAX);
  hooked_in_gap_.resize(gaps_.size());
  tolerance_ = static_cast<uint64_t>(trace.clock().ticks_per_second() * kClockToleranceS);
  has_record_ = stream_.Next(&record_, &record_ticks_);
  // A tracer that says late that it has begun has reported what came before.
  if (has_record_ && !gaps_.empty() && gaps_[0].begin < record_ticks_) {
    gaps_[0].end = std::min(gaps_[0].end, record_ticks_);
  }
  EventStream events(trace);
  for (StreamEvent event; events.Next(&event);) {
    last_ticks_ = std::max(last_ticks_, event.time);
    if (event.operation == schema::ALLOCATE) OnAllocate(event);
  }
  Finish();
}

void ActivityJoin::ReadUntil(uint64_t ticks) {
  for (; has_record_ && record_ticks_ <= ticks; has_record_ = stream_.Next(&record_, &record_ticks_)) {
    if (record_.kind == schema::ACTIVITY_MEMORY) AddRecord(record_, record_ticks_);
  }
}

void ActivityJoin::AddRecord(const ActivityRecord& record, uint64_t ticks) {
  const uint64_t key = record.memory == kActivityArray ? kArrays : record.address;
  if (record.operation == kActivityReleased) {
    const auto found = waiting_.find(key);
    if (found == waiting_.end()) return;
    std::vector<Reported>& reported = found->second.reported;
    const auto it = std::find_if(reported.rbegin(), reported.rend(), [&](const Reported& one) {
      return one.address == record.address && one.released_ticks == 0;
    });
    if (it != reported.rend()) it->released_ticks = ticks;
    return;
  }
  if (record.operation != kActivityAllocated) return;
  const Reported reported = {record.address, record.bytes,     record.text, record.memory,
                             record.device,  record.pool != 0, ticks,       0};
  Waiting& waiting = waiting_[key];
  const bool is_array = key == kArrays;
  // The record of a release may have been dropped.
  for (Reported& before : waiting.reported) {
    if (before.address == reported.address && before.released_ticks == 0) before.released_ticks = ticks;
  }
  // It is of before the event, and comes after it only as far as the clocks disagree.
  const size_t i = Counterpart(waiting.hooked, reported.bytes, is_array,
                               [&](const Hooked& hooked) { return ticks <= hooked.ticks + tolerance_; });
  if (i < waiting.hooked.size()) {
    Join(waiting.hooked[i], reported);
    waiting.hooked.erase(waiting.hooked.begin() + static_cast<ptrdiff_t>(i));
    if (waiting.hooked.empty() && waiting.reported.empty()) waiting_.erase(key);
    return;
  }
  waiting.reported.push_back(reported);
  if (!is_array && waiting.reported.size() > kMostWaiting) {
    AddOnlyCupti(waiting.reported.front(), waiting);
    waiting.reported.erase(waiting.reported.begin());
  }
}

void ActivityJoin::OnAllocate(const StreamEvent& event) {
  const uint32_t kind = event.shape->kind;
  if (!IsGivenOut(kind)) return;
  const uint64_t ticks = last_ticks_;
  ReadUntil(ticks);
  const Hooked hooked = {ticks, event.shape->bytes, kind};
  const uint64_t key = IsArray(kind) ? kArrays : event.address;
  Waiting& waiting = waiting_[key];
  const bool is_array = key == kArrays;
  const size_t i = Counterpart(waiting.reported, hooked.bytes, is_array, [&](const Reported& reported) {
    return reported.released_ticks == 0 || reported.released_ticks + tolerance_ >= ticks;
  });
  if (i < waiting.reported.size()) {
    Join(hooked, waiting.reported[i]);
    waiting.reported.erase(waiting.reported.begin() + static_cast<ptrdiff_t>(i));
  } else {
    waiting.hooked.push_back(hooked);
    if (!is_array && waiting.hooked.size() > kMostWaiting) {
      AddOnlyHooks(waiting.hooked.front());
      waiting.hooked.erase(waiting.hooked.begin());
    }
  }
  if (waiting.hooked.empty() && waiting.reported.empty()) waiting_.erase(key);
}

void ActivityJoin::Join(const Hooked& hooked, const Reported& reported) {
  ++joined_;
  joined_bytes_ += hooked.bytes;
  other_sizes_ += hooked.bytes != reported.bytes;
  ++joined_kinds_[hooked.kind];
}

void ActivityJoin::AddOnlyHooks(const Hooked& hooked) {
  // A mapping takes no memory of its own: that it is joined where CUPTI reports it is enough.
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

void ActivityJoin::AddOnlyCupti(const Reported& reported, const Waiting& waiting) {
  const std::string library(ModuleName(stream_.Text(reported.text)));
  // The hook saw this call and counts it in its own way. CUPTI, for example, reports each level of a mipmapped array.
  if (IsTracer(library)) return;
  AddUnseen(reported, waiting, library);
  OnlyCupti& sum = only_cupti_[{library, reported.memory, reported.device}];
  ++sum.allocations;
  sum.bytes += reported.bytes;
  if (reported.released_ticks != 0) return;
  ++sum.live_objects;
  sum.live_bytes += reported.bytes;
}

void ActivityJoin::AddUnseen(const Reported& reported, const Waiting& waiting, const std::string& library) {
  UnseenMemory::Change change;
  switch (reported.memory) {
    case kActivityDevice:
      change.kind = reported.of_pool ? schema::STREAM_ORDERED : schema::DEVICE;
      break;
    case kActivityManaged:
      change.kind = schema::MANAGED;
      break;
    case kActivityArray:
      change.kind = schema::ARRAY;
      break;
    default:
      return;  // the host's, or a module's, which its loading reports
  }
  if (reported.device > kMaxDevice || reported.address == 0 || reported.bytes > kMaxBytes) return;
  // Nothing is given out twice: a hooked allocation of these bytes at this address and about this time is the same one.
  // Of arrays the two may count the bytes in other ways.
  const auto doubt = static_cast<uint64_t>(trace_.clock().ticks_per_second() * kDoubtS);
  for (const Hooked& hooked : waiting.hooked) {
    if (reported.memory == kActivityArray) return;
    const bool after = hooked.ticks + doubt >= reported.ticks;
    const bool before = reported.released_ticks == 0 || hooked.ticks <= reported.released_ticks + doubt;
    if (hooked.bytes == reported.bytes && after && before) return;
  }
  const auto [found, is_new] = libraries_.try_emplace(library, static_cast<uint32_t>(unseen_.libraries.size()));
  if (is_new) unseen_.libraries.push_back(library);
  change.library = found->second;
  change.device = DeviceIndex(reported.device);
  change.address = reported.address;
  change.bytes = reported.bytes;
  change.ticks = reported.ticks;
  change.ordinal = unseen_.changes.size();
  change.born = true;
  unseen_.changes.push_back(change);
  if (reported.released_ticks == 0) return;
  change.ticks = std::max(reported.released_ticks, reported.ticks + 1);
  change.born = false;
  unseen_.changes.push_back(change);
}

void ActivityJoin::FinishUnseen() {
  uint64_t missed = 0;  // of kinds that CUPTI does report
  for (const auto& [kind, sum] : only_hooks_) {
    if (joined_ == 0 || joined_kinds_.count(kind) != 0) missed += sum.allocations;
  }
  if (missed > joined_) {
    unseen_ = {};
    return;
  }
  // Numbers and order depend on what the trace says alone, not on how tables happen to be walked.
  std::vector<UnseenMemory::Change>& changes = unseen_.changes;
  std::sort(changes.begin(), changes.end(), [](const UnseenMemory::Change& a, const UnseenMemory::Change& b) {
    return std::tie(a.ticks, a.address, a.born) < std::tie(b.ticks, b.address, b.born);
  });
  std::vector<uint64_t> ordinals(changes.size(), UINT64_MAX);
  uint64_t next_ordinal = 0;
  std::vector<uint32_t> numbers(unseen_.libraries.size(), UINT32_MAX);
  std::vector<std::string> libraries;
  for (UnseenMemory::Change& change : changes) {
    uint32_t& number = numbers[change.library];
    if (number == UINT32_MAX) {
      number = static_cast<uint32_t>(libraries.size());
      libraries.push_back(unseen_.libraries[change.library]);
    }
    change.library = number;
    uint64_t& ordinal = ordinals[change.ordinal];
    if (ordinal == UINT64_MAX) ordinal = next_ordinal++;
    change.ordinal = ordinal;
  }
  unseen_.libraries = std::move(libraries);
  unseen_.first_stack = StackIndex(static_cast<uint32_t>(trace_.definitions().stacks.distinct_count()));
  // Nothing says of what the lost records were: each of them may have been of a free.
  const uint64_t lost =
      trace_.counter(schema::COUNTER_ACTIVITIES_DROPPED) + trace_.counter(schema::COUNTER_ACTIVITIES_UNWRITTEN);
  if (lost == 0) return;
  const auto most = static_cast<double>(lost);
  unseen_.lost_share = most / (static_cast<double>(RecordedReleases(trace_)) + most);
}

void ActivityJoin::Finish() {
  ReadUntil(UINT64_MAX);
  for (const auto& [key, waiting] : waiting_) {
    for (const Hooked& hooked : waiting.hooked) AddOnlyHooks(hooked);
    for (const Reported& reported : waiting.reported) AddOnlyCupti(reported, waiting);
  }
  waiting_.clear();
  FinishUnseen();
  std::vector<ActivityGap> kept;
  for (size_t i = 0; i < gaps_.size(); ++i) {
    gaps_[i].end = std::min(gaps_[i].end, last_ticks_);
    if (hooked_in_gap_[i] != 0 || gaps_[i].stopped) kept.push_back(gaps_[i]);
  }
  gaps_ = std::move(kept);
}

}  // namespace vramtrack
