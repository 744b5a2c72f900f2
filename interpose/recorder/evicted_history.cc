// SPDX-License-Identifier: Apache-2.0
#include "interpose/recorder/evicted_history.h"

#include <cstring>

#include "interpose/recorder/live_set.h"
#include "proto/mappable.h"
#include "proto/varint.h"

namespace vramtrack {
bool EvictedHistory::Add(const JournalView& view, uint64_t events, const uint8_t* definitions,
                         size_t definition_bytes) {
  Thread* thread = threads_.Insert(view.thread + 1u);
  if (thread == nullptr || !AddDefinitions(thread, definitions, definition_bytes)) return false;
  uint64_t allocations = 0;
  local_count_ = 0;
  bool good = true;
  for (size_t i = 0; i < view.words && good;) {
    const uint64_t* record = view.records + i;
    const uint64_t word = record[0];
    const size_t words = RecordWords(word);
    if (words == 0 || i + words > view.words) break;
    if (OperationOf(word) < kDefineStack) {
      if (!bins_.started()) bins_.Start(record[1]);
      if (record[1] > last_time_) last_time_ = record[1];
    }
    switch (OperationOf(word)) {
      case schema::ALLOCATE:
        ++allocations;
        local_[local_count_++] = static_cast<uint32_t>(i + 1);
        // What is mapped has to be known when it is freed.
        if (IsMappable(KindOf(word)) || KindOf(word) == schema::MAPPING) {
          good = KeepAllocation(view, local_count_ - 1);
        }
        break;
      case schema::FREE:
        if (thread->pending != 0) good = Free(view, thread->pending, thread->pending_time);
        thread->pending = Identity{RefOf(word), record[2]}.packed();
        thread->pending_time = record[1];
        break;
      case schema::FREE_FAILED:
        thread->pending = 0;
        break;
      case schema::FREE_UNKNOWN:
        ++unknown_frees_;
        break;
      case schema::FAIL:
        failures_.Add(view.thread, record);
        good = Keep({schema::FAIL, 0, KindOf(word), DeviceOf(word), RefOf(word), static_cast<uint32_t>(record[2])},
                    record[1], record[2], record[3]);
        break;
      case schema::STEP:
        good = Keep({schema::STEP, view.thread, 0, 0, 0, 0}, record[1], record[2], record[3]);
        break;
      case schema::MEMORY_INFO:
      case schema::FRAMEWORK_MEMORY:
        good = Keep({OperationOf(word), 0, 0, DeviceOf(word), 0, 0}, record[1], record[2], record[3]);
        break;
      case schema::MARK:
        good = Keep({schema::MARK, view.thread, KindOf(word), 0, RefOf(word), static_cast<uint32_t>(record[2])},
                    record[1], record[3], 0);
        break;
      case schema::TRIM:
      case schema::LIMIT:
        settings_.Add(view.thread, record);
        break;
      case schema::DEVICE_RESET:
        if (thread->pending != 0) good = Free(view, thread->pending, thread->pending_time);
        thread->pending = 0;
        good = good && Reset(view, DeviceOf(word), record[1]);
        break;
      default:
        break;
    }
    i += words;
  }
  good = good && KeepLocal(view);
  thread->events = view.first_sequence + events;
  thread->allocations = view.first_allocation + allocations;
  events_ += events;
  return good && !out_of_memory_;
}

// A thread's own definition goes when the thread and its allocations are gone, and one reading of the host's memory
// stays for each bin. All others stay.
bool EvictedHistory::AddDefinitions(Thread* thread, const uint8_t* definitions, size_t bytes) {
  const uint8_t* end = definitions + bytes;
  for (const uint8_t* at = definitions; at < end;) {
    const uint8_t* field = at;
    uint64_t tag, length;
    if (!GetVarint(&at, end, &tag) || !GetVarint(&at, end, &length)) return true;  // cannot be: we wrote it
    if (tag >> 3 == schema::definitions_field::host_readings) {
      if (!AddHostReading(at, at + length)) return false;
      at += length;
      continue;
    }
    at += length;
    const size_t size = static_cast<size_t>(at - field);
    if (tag >> 3 == schema::definitions_field::threads) {
      if (size > sizeof thread->definition) continue;
      std::memcpy(thread->definition, field, size);
      thread->definition_bytes = static_cast<uint8_t>(size);
      continue;
    }
    if (!definitions_.Reserve(size)) return false;
    definitions_.AddMany(field, size);
  }
  return true;
}

void EvictedHistory::EndThread(uint32_t index) {
  Thread* thread = threads_.Find(index + 1u);
  if (thread == nullptr) return;
  const JournalView nothing = {index, thread->events, thread->allocations, nullptr, 0};
  local_count_ = 0;
  if (thread->pending != 0 && !Free(nothing, thread->pending, thread->pending_time)) out_of_memory_ = true;
  thread->pending = 0;
  thread->ended = true;
}

bool EvictedHistory::SiteOf(uint32_t kind, uint32_t device, uint32_t stack, uint32_t* site) {
  const uint32_t number = sites_.FindOrAdd({kind, device, stack});
  *site = number - 1;
  return number != 0;
}

void EvictedHistory::MakeBinFor(uint64_t time) {
  while (bins_.Beyond(time)) Widen();
}

bool EvictedHistory::FoldPair(uint32_t site, uint64_t bytes, uint64_t birth, uint64_t death) {
  if (death < birth) death = birth;  // clocks of different cores
  MakeBinFor(death);
  Sum* sum = sums_.Insert(SumKey(site, bins_.BinOf(birth), bins_.BinOf(death)));
  if (sum == nullptr) return false;
  ++sum->count;
  sum->bytes += bytes;
  if (death - birth > sum->age) sum->age = death - birth;
  ++pairs_;
  return true;
}

bool EvictedHistory::FoldLocal(const JournalView& view, size_t index, uint64_t death) {
  TakeEarlyFree(view, index, &death);
  const uint64_t* record = view.records + local_[index] - 1;
  local_[index] = 0;
  uint32_t site;
  return SiteOf(KindOf(record[0]), DeviceOf(record[0]), RefOf(record[0]), &site) &&
         FoldPair(site, record[3], record[1], death);
}

// Whether another thread's journal, which was sealed before, has the free of a local allocation.
bool EvictedHistory::TakeEarlyFree(const JournalView& view, size_t index, uint64_t* time) {
  if (early_.size() == 0) return false;
  const uint64_t identity = Identity{view.thread, view.first_allocation + index}.packed();
  const uint64_t* freed = early_.Find(identity);
  if (freed == nullptr) return false;
  *time = *freed;
  early_.Erase(identity);
  return true;
}

bool EvictedHistory::FoldLive(LiveRecord* record, uint64_t death) {
  if (Thread* owner = threads_.Find(Identity::Of(record->identity).thread + 1u)) --owner->live;
  const LiveRecord gone = *record;
  live_.Erase(record);
  return FoldPair(gone.site, gone.bytes, gone.time, death);
}

bool EvictedHistory::FreeLive(LiveRecord* record, uint64_t death) {
  const uint32_t kind = sites_.rows()[record->site].kind;
  const uint64_t identity = record->identity;
  if (IsMappable(kind) && mapped_.OnRelease(identity, record->address, death)) return true;
  if (!FoldLive(record, death)) return false;
  if (kind != schema::MAPPING) return true;
  const uint64_t memory = mapped_.OnUnmap(identity);
  LiveRecord* ended = memory == 0 ? nullptr : live_.Find(memory);
  return ended == nullptr || FoldLive(ended, death);
}

// The allocation was there and is gone: its device was reset. Before that its free was a free, only recorded later.
void EvictedHistory::CountUnknownFree(uint64_t time) {
  if (time >= latest_reset_) ++unknown_frees_;
}

bool EvictedHistory::Free(const JournalView& view, uint64_t identity, uint64_t time) {
  const Identity name = Identity::Of(identity);
  if (name.thread == view.thread && name.ordinal >= view.first_allocation) {
    const uint64_t index = name.ordinal - view.first_allocation;
    if (index < local_count_ && local_[index] != 0) return FoldLocal(view, index, time);
    LiveRecord* record = index < local_count_ ? live_.Find(identity) : nullptr;
    if (record != nullptr) return FreeLive(record, time);
    CountUnknownFree(time);
    return true;
  }
  if (LiveRecord* record = live_.Find(identity)) return FreeLive(record, time);
  const Thread* owner = threads_.Find(name.thread + 1u);
  if (owner != nullptr && name.ordinal < owner->allocations) {
    CountUnknownFree(time);
    return true;
  }
  uint64_t* early = early_.Insert(identity);
  if (early == nullptr) return false;
  *early = time;
  return true;
}

bool EvictedHistory::Reset(const JournalView& view, uint32_t device, uint64_t time) {
  if (time > reset_time_[device]) reset_time_[device] = time;
  if (time > latest_reset_) latest_reset_ = time;
  bool good = true;
  for (size_t i = 0; i < local_count_ && good; ++i) {
    if (local_[i] != 0 && DeviceOf(view.records[local_[i] - 1]) == device) good = FoldLocal(view, i, time);
  }
  live_.ForEach([&](LiveRecord* record) {
    if (!good || sites_.rows()[record->site].device != device || record->time >= time) return;
    mapped_.Forget(record->identity);
    good = FoldLive(record, time);
  });
  return good;
}

// What the journal allocated and did not free.
bool EvictedHistory::KeepLocal(const JournalView& view) {
  for (size_t i = 0; i < local_count_; ++i) {
    if (local_[i] != 0 && !KeepAllocation(view, i)) return false;
  }
  return true;
}

bool EvictedHistory::KeepAllocation(const JournalView& view, size_t index) {
  const uint64_t* record = view.records + local_[index] - 1;
  const uint64_t identity = Identity{view.thread, view.first_allocation + index}.packed();
  uint64_t freed;
  if (TakeEarlyFree(view, index, &freed)) return FoldLocal(view, index, freed);
  const uint32_t device = DeviceOf(record[0]), kind = KindOf(record[0]);
  if (record[1] < reset_time_[device]) return FoldLocal(view, index, reset_time_[device]);
  local_[index] = 0;
  LiveRecord live = {};
  live.identity = identity;
  live.time = record[1];
  live.address = record[2];
  live.bytes = record[3];
  live.stream = FlagsOf(record[0]) & kHasStream ? record[4] : 0;
  if (!SiteOf(kind, device, RefOf(record[0]), &live.site) || !live_.Insert(live)) return false;
  ++threads_.Find(view.thread + 1u)->live;
  if (IsMappable(kind)) mapped_.OnCreate(identity, live.address);
  if (kind == schema::MAPPING) mapped_.OnMap(identity, live.stream);
  return true;
}

bool EvictedHistory::AddHostReading(const uint8_t* at, const uint8_t* end) {
  namespace f = schema::hostReading_field;
  uint64_t time = 0, resident = 0, shared = 0;
  for (uint64_t tag, value; GetVarint(&at, end, &tag) && GetVarint(&at, end, &value);) {
    if (tag >> 3 == f::time) time = value;
    if (tag >> 3 == f::resident) resident = value;
    if (tag >> 3 == f::shared) shared = value;
  }
  if (!bins_.started()) bins_.Start(time);
  return Keep({kHostReading, 0, 0, 0, 0, 0}, time, resident, shared);
}

bool EvictedHistory::Keep(EventSite site, uint64_t time, uint64_t value, uint64_t second) {
  MakeBinFor(time);
  // Names that are known stay what they are.
  if (site.operation == schema::MARK && event_sites_.size() >= kMostNamed && event_sites_.Find(site) == 0) {
    site.name = 0;
  }
  const uint64_t number = event_sites_.FindOrAdd(site);
  Kept* kept = number == 0 ? nullptr : kept_.Insert(number << 8 | bins_.BinOf(time));
  if (kept == nullptr) return false;
  Merge({1, time, value, time, value, second}, kept);
  return true;
}

void EvictedHistory::Merge(const Kept& more, Kept* into) {
  const uint64_t count = into->count + more.count;
  if (into->count == 0) *into = more;
  if (more.first_time < into->first_time) {
    into->first_time = more.first_time;
    into->first = more.first;
  }
  if (more.time >= into->time) {
    into->time = more.time;
    into->value = more.value;
    into->second = more.second;
  }
  into->count = count;
}

void EvictedHistory::Widen() {
  bins_.Widen();
  sums_.Rebuild([this](uint64_t key, const Sum* fine) {
    Sum* sum = sums_.Insert((key & ~uint64_t{0xffff}) | (key >> 9 & 0x7f) << 8 | (key >> 1 & 0x7f));
    if (sum == nullptr) {
      out_of_memory_ = true;
      return;
    }
    sum->count += fine->count;
    sum->bytes += fine->bytes;
    if (fine->age > sum->age) sum->age = fine->age;
  });
  kept_.Rebuild([this](uint64_t key, const Kept* fine) {
    Kept* kept = kept_.Insert((key & ~uint64_t{0xff}) | (key >> 1 & 0x7f));
    if (kept == nullptr) {
      out_of_memory_ = true;
      return;
    }
    Merge(*fine, kept);
  });
}

bool EvictedHistory::Coarsen() {
  if (!bins_.can_halve()) return false;
  bins_.Halve();
  Widen();
  return true;
}

}  // namespace vramtrack
