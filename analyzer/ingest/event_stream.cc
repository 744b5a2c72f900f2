// SPDX-License-Identifier: Apache-2.0
#include "analyzer/ingest/event_stream.h"

#include <algorithm>

namespace vramtrack {

EventStream::EventStream(const Trace& trace) : trace_(trace), release_(trace), cursors_(trace.threads().size()) {
  std::vector<bool> undone_past;
  for (uint32_t slot = 0; slot < cursors_.size(); ++slot) {
    Cursor& cursor = cursors_[slot];
    cursor.blocks = &trace.threads()[ThreadSlot(slot)];
    cursor.past_ordinals = cursor.next_ordinal = cursor.blocks->past_allocations;
    FindUndone(&cursor, &undone_past);
    if (cursor.blocks->blocks.empty()) {
      cursor.exhausted = true;
      continue;
    }
    cursor.time = cursor.blocks->blocks.front().first_time;
    cursor.ended_at = cursor.blocks->blocks.front().first_sequence;
    heap_.push_back({cursor.time, slot});
  }
  if (trace.past() != nullptr) {
    past_ = std::make_unique<PastEvents>(trace, undone_past);
    heap_.push_back({0, past_slot()});
  }
  std::sort(heap_.begin(), heap_.end());
}

EventStream::~EventStream() = default;

bool EventStream::GoOn(Cursor* cursor, uint64_t sequence) {
  const std::vector<BlockRef>& blocks = cursor->blocks->blocks;
  cursor->next_block = 0;
  cursor->exhausted = false;
  while (cursor->next_block < blocks.size() &&
         blocks[cursor->next_block].first_sequence + blocks[cursor->next_block].event_count <= sequence) {
    ++cursor->next_block;
  }
  if (cursor->next_block == blocks.size()) {
    // Nothing new. Of the block that was open, if any, nothing is left.
    cursor->open.reset();
    return blocks.back().first_sequence + blocks.back().event_count == sequence;
  }
  const BlockRef& block = blocks[cursor->next_block++];
  if (block.first_sequence > sequence) return false;
  const uint64_t time = cursor->time, next_ordinal = cursor->next_ordinal;
  Open(cursor, block);
  while (cursor->open->has_event && cursor->open->sequence <= sequence) Advance(cursor);
  cursor->next_ordinal = std::max(cursor->next_ordinal, next_ordinal);
  cursor->time = std::max(cursor->time, time);
  return true;
}

void EventStream::NoteEnd() {
  late_before_ = 0;
  // With a limit, all events up to it are known.
  if (!heap_.empty()) late_before_ = trace_.read_until() + 1;
  for (const Cursor& cursor : cursors_) {
    if (cursor.exhausted) late_before_ = std::max(late_before_, cursor.time);
  }
}

bool EventStream::Continue() {
  if (past_ != nullptr || !forced_.empty() || cursors_.size() != trace_.threads().size()) return false;
  heap_.clear();
  for (uint32_t slot = 0; slot < cursors_.size(); ++slot) {
    Cursor& cursor = cursors_[slot];
    cursor.blocks = &trace_.threads()[ThreadSlot(slot)];
    if (cursor.blocks->blocks.empty()) return false;
    // The first event that was not delivered.
    uint64_t sequence = cursor.ended_at;
    if (cursor.open != nullptr && cursor.open->has_event) sequence = cursor.open->sequence - 1;
    const std::vector<uint64_t> undone = std::move(cursor.undone);
    cursor.undone.clear();
    std::vector<bool> undone_past;
    FindUndone(&cursor, &undone_past);
    const auto passed = std::lower_bound(cursor.undone.begin(), cursor.undone.end(), sequence);
    if (!std::equal(cursor.undone.begin(), passed, undone.begin(),
                    std::lower_bound(undone.begin(), undone.end(), sequence))) {
      return false;
    }
    if (!GoOn(&cursor, sequence)) return false;
    if (cursor.open != nullptr && cursor.open->has_event && cursor.time < late_before_) return false;
    heap_.push_back({cursor.time, slot});
  }
  std::sort(heap_.begin(), heap_.end());
  return true;
}

uint32_t EventStream::SlotOf(uint32_t thread) const { return trace_.SlotOf(thread).value(); }

// A free and the word that it failed may lie on both sides of a block's end, so this looks ahead; failures are rare
// enough to read their blocks twice.
void EventStream::FindUndone(Cursor* cursor, std::vector<bool>* undone_past) {
  const std::vector<BlockRef>& blocks = cursor->blocks->blocks;
  constexpr uint64_t kNone = UINT64_MAX, kPast = UINT64_MAX - 1;
  uint64_t last_free = kNone, expected = cursor->blocks->past_events;
  size_t past_free = 0;
  if (const Checkpoint* past = trace_.past()) {
    undone_past->resize(past->records.size());
    for (size_t i = 0; i < past->records.size(); ++i) {
      const CheckpointRecord& record = past->records[i];
      if (record.field != schema::checkpoint_field::early_frees) continue;
      if (record.second != uint64_t{cursor->blocks->thread} + 1) continue;
      last_free = kPast;
      past_free = i;
    }
  }
  for (size_t i = 0; i < blocks.size(); ++i) {
    const bool next_fails = i + 1 < blocks.size() && blocks[i + 1].has_failed_frees;
    if (!blocks[i].has_failed_frees && !next_fails) {
      last_free = kNone;
      continue;
    }
    if (blocks[i].first_sequence != expected) last_free = kNone;
    uint64_t sequence = blocks[i].first_sequence;
    expected = sequence + blocks[i].event_count;
    BlockDecoder decoder;
    if (!decoder.Open(blocks[i].payload)) continue;
    for (DecodedEvent event; decoder.Next(&event); ++sequence) {
      if (event.shape->operation == schema::FREE) last_free = sequence;
      if (event.shape->operation == schema::FREE_FAILED && last_free != kNone) {
        if (last_free == kPast) {
          (*undone_past)[past_free] = true;
        } else {
          cursor->undone.push_back(last_free);
        }
        last_free = kNone;
      }
    }
  }
}

inline void EventStream::Advance(Cursor* cursor) {
  OpenBlock& open = *cursor->open;
  while ((open.has_event = open.decoder.Next(&open.event))) {
    const uint64_t sequence = open.sequence++;
    const uint32_t operation = open.event.shape->operation;
    if (__builtin_expect(operation == schema::FREE_FAILED, 0)) continue;
    if (__builtin_expect(!cursor->undone.empty(), 0) && operation == schema::FREE &&
        std::binary_search(cursor->undone.begin(), cursor->undone.end(), sequence)) {
      continue;
    }
    if (open.event.time > cursor->time) cursor->time = open.event.time;
    return;
  }
  unreadable_events_ += open.block->first_sequence + open.block->event_count - open.sequence;
  cursor->ended_at = open.block->first_sequence + open.block->event_count;
  Close(cursor);
}

void EventStream::Open(Cursor* cursor, const BlockRef& block) {
  if (cursor->open == nullptr) cursor->open = std::make_unique<OpenBlock>();
  OpenBlock& open = *cursor->open;
  open.block = &block;
  open.has_event = false;
  open.sequence = block.first_sequence;
  cursor->next_ordinal = std::max(cursor->next_ordinal, block.first_allocation);
  if (!open.decoder.Open(block.payload)) {
    unreadable_events_ += block.event_count;
    cursor->ended_at = block.first_sequence + block.event_count;
    return;
  }
  const std::vector<DecodedShape>& shapes = open.decoder.shapes();
  open.notes.assign(shapes.size(), 0);
  open.owners.assign(shapes.size(), kNoSlot);
  for (size_t i = 0; i < shapes.size(); ++i) {
    if (shapes[i].operation == schema::FREE) open.owners[i] = SlotOf(shapes[i].ref);
  }
  Advance(cursor);
}

void EventStream::Close(Cursor* cursor) {
  const BlockRef& closed = *cursor->open->block;
  if (!closed.from_journal) closed_bytes_ += closed.payload.size();
  if (__builtin_expect(closed_bytes_ >= kReleaseBytes, 0)) ReleaseRead();
  block_ended_ = true;
  const std::vector<BlockRef>& blocks = cursor->blocks->blocks;
  if (cursor->next_block < blocks.size()) cursor->time = std::max(cursor->time, blocks[cursor->next_block].first_time);
}

// The file up to the blocks that each thread has still to read. They are in the file about as they were recorded.
void EventStream::ReleaseRead() {
  closed_bytes_ = 0;
  uint64_t first = trace_.file_bytes();
  for (const Cursor& cursor : cursors_) {
    if (cursor.open != nullptr && cursor.open->has_event) first = std::min(first, cursor.open->block->offset);
    if (cursor.next_block < cursor.blocks->blocks.size()) {
      first = std::min(first, cursor.blocks->blocks[cursor.next_block].offset);
    }
  }
  release_.Passed(first);
}

bool EventStream::Ready(Cursor* cursor) {
  const std::vector<BlockRef>& blocks = cursor->blocks->blocks;
  while (cursor->open == nullptr || !cursor->open->has_event) {
    if (cursor->next_block == blocks.size()) {
      cursor->exhausted = true;
      cursor->open.reset();
      return false;
    }
    Open(cursor, blocks[cursor->next_block++]);
  }
  return true;
}

bool EventStream::Waiting(uint32_t slot) const {
  if (heap_.front().slot == slot) return true;
  return std::any_of(forced_.begin(), forced_.end(), [slot](const Forced& forced) { return forced.slot == slot; });
}

void EventStream::SiftTop() {
  const HeapEntry entry = heap_[0];
  const size_t size = heap_.size();
  size_t at = 0;
  for (;;) {
    size_t child = 2 * at + 1;
    if (child >= size) break;
    if (child + 1 < size && heap_[child + 1] < heap_[child]) ++child;
    if (!(heap_[child] < entry)) break;
    heap_[at] = heap_[child];
    at = child;
  }
  heap_[at] = entry;
}

void EventStream::PopTop() {
  heap_.front() = heap_.back();
  heap_.pop_back();
  if (!heap_.empty()) SiftTop();
}

bool EventStream::MustWait(uint32_t slot, uint32_t owner, uint64_t ordinal, bool* unknown) {
  const Cursor& cursor = cursors_[owner];
  if (__builtin_expect(ordinal >= cursor.next_ordinal, 0)) {
    if (!cursor.exhausted && !Waiting(owner) && owner != slot) {
      forced_.push_back({owner, ordinal});
      return true;
    }
    // Its allocation comes after it, or never: only a damaged trace says so.
    *unknown = true;
  } else if (__builtin_expect(ordinal < cursor.past_ordinals, 0)) {
    uint64_t rank;
    if (past_ != nullptr && slot != past_slot() && !Waiting(past_slot()) &&
        past_->Undelivered(ThreadSlot(owner), ordinal, &rank)) {
      forced_.push_back({past_slot(), rank});
      return true;
    }
  }
  return false;
}

inline void EventStream::Consume(Cursor* cursor, bool ahead) {
  Advance(cursor);
  if (ahead) return;
  heap_[0].time = cursor->time;
  if (heap_.size() > 1) SiftTop();
}

inline void EventStream::Deliver(const Cursor& cursor, uint32_t slot, uint32_t owner, uint32_t operation, size_t row,
                                 StreamEvent* event) {
  const DecodedEvent& next = cursor.open->event;
  event->operation = operation;
  event->slot = ThreadSlot(slot);
  event->owner = ThreadSlot(owner);
  event->shape = next.shape;
  event->note = &cursor.open->notes[row];
  event->time = cursor.time;
  event->ordinal = next.ordinal;
  event->address = next.address;
  event->value[0] = next.value[0];
  event->value[1] = next.value[1];
  event->past = false;
}

size_t EventStream::ReadRun(StreamEvent* events, size_t most) {
  if (!forced_.empty() || heap_.empty() || heap_[0].slot == past_slot()) return 0;
  const uint32_t slot = heap_[0].slot;
  Cursor& cursor = cursors_[slot];
  if (heap_[0].time != cursor.time || cursor.open == nullptr || !cursor.open->has_event) return 0;
  // Whose turn it is next.
  HeapEntry limit = {trace_.read_until(), UINT32_MAX};
  for (size_t child = 1; child < 3 && child < heap_.size(); ++child) limit = std::min(limit, heap_[child]);
  OpenBlock& open = *cursor.open;
  const DecodedShape* const shapes = open.decoder.shapes().data();
  size_t count = 0;
  while (count < most && HeapEntry{cursor.time, slot} < limit) {
    const DecodedEvent& next = open.event;
    const auto row = static_cast<size_t>(next.shape - shapes);
    const uint32_t operation = next.shape->operation;
    uint32_t owner = slot;
    if (operation == schema::FREE) {
      owner = open.owners[row];
      if (__builtin_expect(owner == kNoSlot || next.ordinal >= cursors_[owner].next_ordinal ||
                               next.ordinal < cursors_[owner].past_ordinals,
                           0)) {
        break;
      }
    } else if (operation == schema::ALLOCATE) {
      cursor.next_ordinal = next.ordinal + 1;
    }
    Deliver(cursor, slot, owner, operation, row, &events[count++]);
    Advance(&cursor);
    if (__builtin_expect(!open.has_event, 0)) break;
  }
  if (count == 0) return 0;
  heap_[0].time = cursor.time;
  if (heap_.size() > 1) SiftTop();
  return count;
}

const std::vector<StreamEvent>& EventStream::Read() {
  batch_.resize(kMostEvents);
  block_ended_ = false;
  size_t count = 0;
  while (count < kMostEvents && !(block_ended_ && count > 0)) {
    if (const size_t run = ReadRun(&batch_[count], kMostEvents - count); run > 0) {
      count += run;
    } else if (uint32_t slot; !FindTurn(&slot)) {
      NoteEnd();
      break;
    } else if (DeliverTurn(slot, &batch_[count])) {
      ++count;
    }
  }
  batch_.resize(count);
  return batch_;
}

uint64_t EventStream::TimeOf(uint32_t slot) const { return slot == past_slot() ? past_->time() : cursors_[slot].time; }

bool EventStream::HasNext(uint32_t slot) { return slot == past_slot() ? past_->Ready() : Ready(&cursors_[slot]); }

bool EventStream::HasDelivered(const Forced& forced) const {
  return (forced.slot == past_slot() ? past_->live_delivered() : cursors_[forced.slot].next_ordinal) > forced.ordinal;
}

bool EventStream::FindTurn(uint32_t* slot) {
  for (; !forced_.empty(); forced_.pop_back()) {
    *slot = forced_.back().slot;
    // Opening a block may show that the allocation is lost.
    if (!HasDelivered(forced_.back()) && HasNext(*slot) && !HasDelivered(forced_.back())) return true;
  }
  while (!heap_.empty()) {
    *slot = heap_[0].slot;
    if (const uint64_t time = TimeOf(*slot); __builtin_expect(heap_[0].time != time, 0)) {  // it had gone ahead
      heap_[0].time = time;
      SiftTop();
    } else if (!HasNext(*slot)) {
      PopTop();
    } else if (__builtin_expect(heap_[0].time == TimeOf(*slot), 1)) {
      return heap_[0].time <= trace_.read_until();
    }
  }
  return false;
}

bool EventStream::DeliverPast(StreamEvent* event) {
  const StreamEvent& next = past_->front();
  bool unknown = next.operation == schema::FREE && next.owner.is_none();
  if (next.operation == schema::FREE && !unknown && MustWait(past_slot(), next.owner.value(), next.ordinal, &unknown)) {
    return false;
  }
  *event = next;
  past_->Pop();
  if (!unknown) return true;
  event->operation = schema::FREE_UNKNOWN;
  event->owner = event->slot;
  return !trace_.running();
}

bool EventStream::DeliverNext(uint32_t slot, StreamEvent* event) {
  const bool ahead = !forced_.empty();
  Cursor& cursor = cursors_[slot];
  OpenBlock& open = *cursor.open;
  const DecodedEvent& next = open.event;
  const auto row = static_cast<size_t>(next.shape - open.decoder.shapes().data());
  uint32_t operation = next.shape->operation, owner = slot;
  if (operation == schema::FREE) {
    owner = open.owners[row];
    bool unknown = owner == kNoSlot;
    const auto is_past = [&] { return next.ordinal < cursors_[owner].past_ordinals; };
    if (!unknown && __builtin_expect(next.ordinal >= cursors_[owner].next_ordinal || is_past(), 0) &&
        MustWait(slot, owner, next.ordinal, &unknown)) {
      return false;
    }
    const bool too_late = !unknown && __builtin_expect(is_past(), 0) && past_ != nullptr &&
                          past_->EndedByReset(ThreadSlot(owner), next.ordinal, next.time);
    if (too_late || (unknown && trace_.running())) {  // of an allocation that the journals' copies do not have yet
      Consume(&cursor, ahead);
      return false;
    }
    if (unknown) operation = schema::FREE_UNKNOWN;
  } else if (operation == schema::ALLOCATE) {
    cursor.next_ordinal = next.ordinal + 1;
  }
  Deliver(cursor, slot, owner, operation, row, event);
  Consume(&cursor, ahead);
  return true;
}

inline bool EventStream::DeliverTurn(uint32_t slot, StreamEvent* event) {
  return __builtin_expect(slot == past_slot(), 0) ? DeliverPast(event) : DeliverNext(slot, event);
}

bool EventStream::Next(StreamEvent* event) {
  for (uint32_t slot; FindTurn(&slot);) {
    if (DeliverTurn(slot, event)) return true;
  }
  NoteEnd();
  return false;
}

}  // namespace vramtrack
