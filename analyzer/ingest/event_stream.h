// SPDX-License-Identifier: Apache-2.0
//
// Delivers the events of a trace as one sequence. Events are ordered by time, except that an allocation always comes
// before its free: clocks of different cores may disagree, so the program's own order decides.
#ifndef ANALYZER_INGEST_EVENT_STREAM_H_
#define ANALYZER_INGEST_EVENT_STREAM_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "analyzer/base/indices.h"
#include "analyzer/ingest/past_events.h"
#include "analyzer/ingest/stream_event.h"
#include "analyzer/ingest/trace.h"
#include "proto/block_decoder.h"

namespace vramtrack {

// Reads a trace block by block. Memory is bounded by the threads that are active at the same time, not by the length of
// the trace. A FREE that failed is left out together with its FREE_FAILED. For a trace of bounded size, the events of
// the past are those of PastEvents. Thread-compatible.
class EventStream {
 public:
  explicit EventStream(const Trace& trace);
  ~EventStream();

  // Stores the next event in `*event`. Returns false after the last event, or after the last one within the time limit.
  // The time limit is that of Trace::LeaveOutAfter. What the event points to is valid until the next call of this
  // class.
  bool Next(StreamEvent* event);
  // Returns the next events; none only at the end, as for Next(). They and what they point to are valid until the next
  // call of this class. Of events that follow one another in a thread it does less for each than Next().
  const std::vector<StreamEvent>& Read();

  // After Trace::Continue(), goes on with what the newer reading has more. Returns false if that cannot be: a free that
  // was delivered has turned out to have failed, or events are missing or came too late for their place in the order.
  // The stream is then of no use any more.
  bool Continue();

  uint32_t slots() const { return static_cast<uint32_t>(cursors_.size()); }
  // Returns the number of events that could not be read, because the columns of their block are inconsistent.
  uint64_t unreadable_events() const { return unreadable_events_; }

 private:
  static constexpr uint32_t kNoSlot = ThreadSlot::None().value();

  // A block that is being read.
  struct OpenBlock {
    BlockDecoder decoder;
    std::vector<uint32_t> notes;   // by shape
    std::vector<uint32_t> owners;  // by shape, for FREE shapes: slot, or kNoSlot
    DecodedEvent event;            // the next one
    uint64_t sequence;             // 1 + its number within the thread
    bool has_event = false;
    const BlockRef* block = nullptr;
  };

  struct Cursor {
    const ThreadBlocks* blocks = nullptr;
    size_t next_block = 0;
    std::unique_ptr<OpenBlock> open;
    uint64_t past_ordinals = 0;    // allocations before this one belong to the past
    uint64_t next_ordinal = 0;     // allocations before this one have been delivered or are lost
    uint64_t time = 0;             // time of the next event, or of its block if that is not open yet
    uint64_t ended_at = 0;         // 1 + the number within the thread of the last event of blocks that were read
    std::vector<uint64_t> undone;  // sequence numbers of frees that failed, ascending
    bool exhausted = false;
  };

  struct HeapEntry {
    uint64_t time;
    uint32_t slot;
    bool operator<(const HeapEntry& other) const { return time != other.time ? time < other.time : slot < other.slot; }
  };

  // A thread that must deliver its events first, until it has delivered the allocation `ordinal`. For the past,
  // `ordinal` is the rank of the live allocation.
  struct Forced {
    uint32_t slot;
    uint64_t ordinal;
  };

  // Finds the thread, or the past, that delivers next, and makes its next event ready. Returns false at the end.
  bool FindTurn(uint32_t* slot);
  uint64_t TimeOf(uint32_t slot) const;
  bool HasNext(uint32_t slot);
  bool HasDelivered(const Forced& forced) const;
  // Delivers the event whose turn it is, of the past or of a thread. Returns false if it must wait or is left out.
  bool DeliverTurn(uint32_t slot, StreamEvent* event);
  bool DeliverPast(StreamEvent* event);
  bool DeliverNext(uint32_t slot, StreamEvent* event);
  // Stores events of the thread whose turn it is, as long as it is and nothing unusual happens. May store none.
  size_t ReadRun(StreamEvent* events, size_t most);
  void Deliver(const Cursor& cursor, uint32_t slot, uint32_t owner, uint32_t operation, size_t row, StreamEvent* event);
  bool Ready(Cursor* cursor);  // opens blocks until there is a next event
  void Open(Cursor* cursor, const BlockRef& block);
  bool GoOn(Cursor* cursor, uint64_t sequence);  // opens the block with the event of this number
  void NoteEnd();
  void Advance(Cursor* cursor);  // moves on by one event, without opening a block
  void Close(Cursor* cursor);
  void ReleaseRead();
  bool Waiting(uint32_t slot) const;
  uint32_t SlotOf(uint32_t thread) const;
  void FindUndone(Cursor* cursor, std::vector<bool>* undone_past);
  uint32_t past_slot() const { return static_cast<uint32_t>(cursors_.size()); }
  // Returns whether a FREE must wait for another thread's allocation; that thread is then added to forced_. Sets
  // `*unknown` if the allocation is not in the trace.
  bool MustWait(uint32_t slot, uint32_t owner, uint64_t ordinal, bool* unknown);
  void Consume(Cursor* cursor, bool ahead);  // takes the next event of the top of the heap, or of a forced thread
  void SiftTop();
  void PopTop();

  static constexpr uint64_t kReleaseBytes = 8 << 20;
  static constexpr size_t kMostEvents = 256;

  const Trace& trace_;
  ReleaseBehind release_;
  uint64_t closed_bytes_ = 0;  // bytes of blocks that were closed since memory was last released
  std::vector<Cursor> cursors_;
  std::unique_ptr<PastEvents> past_;  // null if the trace has no past
  std::vector<HeapEntry> heap_;       // the earliest first
  std::vector<Forced> forced_;
  uint64_t unreadable_events_ = 0;
  uint64_t late_before_ = 0;  // an event of an earlier time that comes after the last end had its place before that
  std::vector<StreamEvent> batch_;
  bool block_ended_ =
      false;  // since the batch began; its tables are overwritten when the thread's next block is opened
};

}  // namespace vramtrack

#endif  // ANALYZER_INGEST_EVENT_STREAM_H_
