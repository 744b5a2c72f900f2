// SPDX-License-Identifier: Apache-2.0
#include "interpose/recorder/event_writer.h"

#include <cstring>

#include "interpose/recorder/host_readings.h"

namespace vramtrack {
namespace {

std::atomic<uint64_t>* Word(uint64_t* journal, JournalHeaderWord word) {
  return reinterpret_cast<std::atomic<uint64_t>*>(journal + word);
}

// A reader that sees a record that is written after this call also sees that the journal was emptied before it. A
// release store would only order the writes before itself. On x86-64 the fence costs no instruction.
void RecordsComeAfter() { std::atomic_thread_fence(std::memory_order_release); }

}  // namespace

void EventWriter::Attach(TraceFile* file, uint64_t* journal, uint32_t thread) {
  file_ = file;
  journal_ = journal;
  thread_ = thread;
  used_ = 0;
  capacity_ = kSealedWords;
  first_sequence_ = first_allocation_ = next_allocation_ = 0;
  Word(journal, kJournalCommitted)->store(0, std::memory_order_release);
  Word(journal, kJournalTurns)->fetch_add(1, std::memory_order_release);
  Word(journal, kJournalFirstSequence)->store(0, std::memory_order_release);
  Word(journal, kJournalFirstAllocation)->store(0, std::memory_order_release);
  Word(journal, kJournalThread)->store(thread, std::memory_order_release);
  RecordsComeAfter();
}

// Where something has no room, nothing that comes later has: a free must not be recorded whose allocation was not.
bool EventWriter::MakeRoom(size_t words) {
  if (!file_->stopped() && Seal()) {
    NoteHostMemory();
    if (used_ + words <= kMaxRecordWords) return true;
  }
  capacity_ = 0;
  return false;
}

bool EventWriter::CountLost() {
  file_->counter(schema::COUNTER_LOST_EVENTS)->fetch_add(1, std::memory_order_relaxed);
  return false;
}

bool EventWriter::DefineStack(uint32_t id, uint32_t module_epoch, bool truncated, const uint64_t* frames,
                              size_t count) {
  const size_t words = 2 + count;
  if (words > kMaxDefinitionWords || (used_ + words > capacity_ && !MakeRoom(words))) return false;
  uint64_t* record = journal_ + kJournalHeaderWords + used_;
  record[0] = DefinitionWord(kDefineStack, words, id);
  record[1] = module_epoch | static_cast<uint64_t>(truncated) << 32;
  std::memcpy(record + 2, frames, 8 * count);
  Commit(words);
  return true;
}

bool EventWriter::DefineEncoded(const uint8_t* encoded, size_t bytes) {
  const size_t words = 2 + (bytes + 7) / 8;
  if (words > kMaxDefinitionWords || (used_ + words > capacity_ && !MakeRoom(words))) return false;
  uint64_t* record = journal_ + kJournalHeaderWords + used_;
  record[0] = DefinitionWord(kDefineEncoded, words, 0);
  record[1] = bytes;
  record[words - 1] = 0;
  std::memcpy(record + 2, encoded, bytes);
  Commit(words);
  return true;
}

void EventWriter::NoteHostMemory() {
  const uint64_t ticks = Clock::Ticks();
  if (!file_->host_readings()->IsDue(ticks, Clock::ticks_per_second())) return;
  HostMemory memory;
  if (!file_->host_readings()->IsAllowed() || !ReadHostMemory(&memory)) {
    file_->host_readings()->GiveUp();
    return;
  }
  namespace f = schema::hostReading_field;
  Define<64>(schema::definitions_field::host_readings, [&](MessageWriter* out) {
    out->Varint(f::time, ticks);
    out->Varint(f::resident, memory.resident);
    out->Varint(f::shared, memory.shared);
  });
}

bool EventWriter::Seal() {
  if (used_ == 0) return !file_->stopped();
  const JournalView view = {thread_, first_sequence_, first_allocation_, journal_ + kJournalHeaderWords, used_};
  BlockSummary summary;
  size_t bytes;
  uint8_t* frame = encoder_.Encode(view, Clock::time_shift(), &bytes, &summary, nullptr, file_->bounded());
  if (bytes != 0 && !file_->AppendBlock(frame, bytes, view, summary)) return false;
  file_->counter(schema::COUNTER_CLOCK_TICKS)->store(Clock::Ticks(), std::memory_order_relaxed);
  file_->counter(schema::COUNTER_CLOCK_MONOTONIC_NS)->store(MonotonicNs(), std::memory_order_relaxed);
  first_sequence_ += summary.events;
  first_allocation_ = next_allocation_;
  used_ = 0;
  // In this order: a reader in between finds an empty journal, or one that was sealed already.
  Word(journal_, kJournalCommitted)->store(0, std::memory_order_release);
  Word(journal_, kJournalTurns)->fetch_add(1, std::memory_order_release);
  Word(journal_, kJournalFirstSequence)->store(first_sequence_, std::memory_order_release);
  Word(journal_, kJournalFirstAllocation)->store(first_allocation_, std::memory_order_release);
  RecordsComeAfter();
  return true;
}

}  // namespace vramtrack
