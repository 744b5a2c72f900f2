// SPDX-License-Identifier: Apache-2.0
//
// One thread's recording: the journal of the thread, which is sealed into a block when it is full. Only its thread uses
// it.
#ifndef INTERPOSE_RECORDER_EVENT_WRITER_H_
#define INTERPOSE_RECORDER_EVENT_WRITER_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "interpose/base/clock.h"
#include "interpose/recorder/trace_file.h"
#include "proto/journal.h"
#include "proto/message_writer.h"

namespace vramtrack {

// Uses zeroed memory of its own. A later thread reuses the writer.
class alignas(64) EventWriter {
 public:
  // A journal is sealed once it has so many words. More at a time would take caches from the program: half a megabyte
  // with what the encoder writes, for a journal of 128 KiB. A definition may be longer.
  static constexpr size_t kSealedWords = 2048;
  // A definition uses at most half a journal, so that it always fits into an empty one.
  static constexpr size_t kMaxDefinitionWords = kMaxRecordWords / 2;

  void Attach(TraceFile* file, uint64_t* journal, uint32_t thread);
  uint32_t thread() const { return thread_; }
  uint64_t* journal() const { return journal_; }
  TraceFile& file() const { return *file_; }

  // Records an event that happens now. Returns false, and counts the event as lost, once recording has stopped.
  template <typename... Operands>
  bool Event(schema::Operation operation, uint32_t kind, uint32_t device, uint32_t flags, uint32_t ref,
             Operands... operands) {
    return EventAt(Clock::Ticks(), operation, kind, device, flags, ref, operands...);
  }

  // Like Event, for an event at an earlier time, which must not be before the last one that this writer recorded.
  template <typename... Operands>
  bool EventAt(uint64_t ticks, schema::Operation operation, uint32_t kind, uint32_t device, uint32_t flags,
               uint32_t ref, Operands... operands) {
    constexpr size_t kWords = 2 + sizeof...(operands);
    if (__builtin_expect(used_ + kWords > capacity_, 0) && !MakeRoom(kWords)) return CountLost();
    uint64_t* record = journal_ + kJournalHeaderWords + used_;
    // Each word by itself: a copy from an array would wait for the array's stores.
    record[0] = EventWord(operation, kind, device, flags, ref);
    record[1] = ticks;
    size_t i = 2;
    ((record[i++] = operands), ...);
    Commit(kWords);
    return true;
  }

  // Records an allocation. Its ordinal is the value of next_allocation() before the call.
  bool Allocation(uint32_t kind, uint32_t device, uint32_t stack, uint64_t address, uint64_t bytes, uint64_t stream) {
    const bool recorded = stream == 0
                              ? Event(schema::ALLOCATE, kind, device, 0, stack, address, bytes)
                              : Event(schema::ALLOCATE, kind, device, kHasStream, stack, address, bytes, stream);
    if (recorded) ++next_allocation_;
    return recorded;
  }
  uint64_t next_allocation() const { return next_allocation_; }

  // Records a device reset, then seals the journal at once. A checkpoint of a bounded trace that contains an allocation
  // made after the reset therefore contains the reset, too. The rounded times of the checkpoint could not show which
  // came first.
  bool DeviceReset(uint32_t device) {
    if (!Event(schema::DEVICE_RESET, 0, device, 0, 0)) return false;
    Seal();
    return true;
  }

  bool DefineStack(uint32_t id, uint32_t module_epoch, bool truncated, const uint64_t* frames, size_t count);
  // Adds fields of a Definitions message that are already encoded.
  bool DefineEncoded(const uint8_t* encoded, size_t bytes);
  // Adds one field, a message of at most kBytes that `write(MessageWriter*)` fills. Returns false if there is no room.
  template <size_t kBytes, typename Write>
  bool Define(schema::definitions_field::Number field, Write write) {
    uint8_t buffer[kBytes];
    MessageWriter out(buffer, sizeof buffer);
    uint8_t* message = out.Begin(field);
    write(&out);
    out.End(message);
    return DefineEncoded(buffer, out.size());
  }

  // Records how much memory of the host the process has, if that is due. Takes no time otherwise.
  void NoteHostMemory();

  // Seals the contents of the journal into a block. Returns false once recording has stopped; the journal then keeps
  // them.
  bool Seal();

  EventWriter* next_free;  // link in the list of writers that no thread uses

 private:
  bool MakeRoom(size_t words);
  bool CountLost();
  void Commit(size_t words) {
    used_ += words;
    reinterpret_cast<std::atomic<uint64_t>*>(journal_ + kJournalCommitted)->store(used_, std::memory_order_release);
  }

  TraceFile* file_;
  uint64_t* journal_;
  size_t used_, capacity_;  // words of records
  uint32_t thread_;
  uint64_t next_allocation_, first_sequence_, first_allocation_;
  BlockEncoder encoder_;
};

}  // namespace vramtrack

#endif  // INTERPOSE_RECORDER_EVENT_WRITER_H_
