// SPDX-License-Identifier: Apache-2.0
//
// Joins what a hook recorded with what CUPTI recorded for the same allocation. Both have the address, the size and the
// time. The record of an allocation is earlier than its event, which is recorded after the call; the record of a
// release is later than its event. Each address is allocated and freed in turn, so an allocation that only one of the
// two saw is recognised at once.
#ifndef ANALYZER_CUPTI_ACTIVITY_JOIN_H_
#define ANALYZER_CUPTI_ACTIVITY_JOIN_H_

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "analyzer/cupti/activity_stream.h"
#include "analyzer/ingest/stream_event.h"
#include "analyzer/ledger/unseen_memory.h"

namespace vramtrack {

// Reads a trace once. Memory is bounded by live allocations and by those that were not joined. Thread-compatible.
class ActivityJoin {
 public:
  struct OnlyCupti {
    uint64_t allocations = 0, bytes = 0, live_objects = 0, live_bytes = 0;
  };
  // The library, the kind of memory as CUPTI numbers it, and the device.
  using OnlyCuptiKey = std::tuple<std::string, uint32_t, uint32_t>;
  struct OnlyHooks {
    uint64_t allocations = 0, bytes = 0;
  };

  // Reads the whole trace.
  explicit ActivityJoin(const Trace& trace);

  uint64_t joined() const { return joined_; }
  uint64_t joined_bytes() const { return joined_bytes_; }
  uint64_t other_sizes() const { return other_sizes_; }
  const std::map<OnlyCuptiKey, OnlyCupti>& only_cupti() const { return only_cupti_; }
  // Allocations that only hooks saw while CUPTI was recording, by schema::Kind. `joined_kinds`: the kinds of which
  // both saw some allocations.
  const std::map<uint32_t, OnlyHooks>& only_hooks() const { return only_hooks_; }
  const std::map<uint32_t, uint64_t>& joined_kinds() const { return joined_kinds_; }
  // Returns the spans in which hooks saw allocations but CUPTI delivered no records.
  const std::vector<ActivityGap>& gaps() const { return gaps_; }
  // Returns the device memory that only CUPTI saw, for the ledger. Leaves out what may be a hooked allocation that was
  // not recognised; empty if most hooked allocations were not recognised.
  const UnseenMemory& unseen() const { return unseen_; }

 private:
  struct Hooked {
    uint64_t ticks, bytes;
    uint32_t kind;
  };
  struct Reported {
    uint64_t address, bytes;
    uint32_t text, memory, device;
    bool of_pool;
    uint64_t ticks;
    uint64_t released_ticks;  // 0 if it is live
  };
  // Events and records of one address that were not joined yet, in order: usually one or none.
  struct Waiting {
    std::vector<Hooked> hooked;
    std::vector<Reported> reported;
  };
  static constexpr size_t kMostWaiting = 8;

  void OnAllocate(const StreamEvent& event);
  void ReadUntil(uint64_t ticks);
  void AddRecord(const ActivityRecord& record, uint64_t ticks);
  void Join(const Hooked& hooked, const Reported& reported);
  void AddOnlyHooks(const Hooked& hooked);
  void AddOnlyCupti(const Reported& reported, const Waiting& waiting);
  void AddUnseen(const Reported& reported, const Waiting& waiting, const std::string& library);
  void Finish();
  void FinishUnseen();

  const Trace& trace_;
  ActivityStream stream_;
  uint64_t tolerance_ = 0;   // in ticks
  uint64_t last_ticks_ = 0;  // the latest event so far
  bool has_record_ = false;
  ActivityRecord record_;
  uint64_t record_ticks_ = 0;
  std::vector<ActivityGap> gaps_;
  std::vector<uint64_t> hooked_in_gap_;  // indexed like gaps_
  absl::flat_hash_map<uint64_t, Waiting> waiting_;
  uint64_t joined_ = 0, joined_bytes_ = 0, other_sizes_ = 0;
  std::map<OnlyCuptiKey, OnlyCupti> only_cupti_;
  std::map<uint32_t, OnlyHooks> only_hooks_;
  std::map<uint32_t, uint64_t> joined_kinds_;
  UnseenMemory unseen_;
  std::map<std::string, uint32_t> libraries_;  // index in unseen_ by library
};

}  // namespace vramtrack

#endif  // ANALYZER_CUPTI_ACTIVITY_JOIN_H_
