// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_INGEST_TRACE_H_
#define ANALYZER_INGEST_TRACE_H_

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "analyzer/base/indices.h"
#include "analyzer/ingest/definitions.h"
#include "analyzer/ingest/journal_recovery.h"
#include "analyzer/ingest/mapped_file.h"
#include "analyzer/ingest/process_state.h"
#include "analyzer/ingest/tick_clock.h"
#include "proto/checkpoint.h"
#include "proto/frame_scanner.h"

namespace vramtrack {

// A block whose header makes sense. The payload lives as long as the trace.
struct BlockRef {
  std::string_view payload;
  uint64_t offset = 0;  // of the frame, or of the journal that it was made from, in the file
  uint64_t first_sequence = 0, first_allocation = 0, first_time = 0;
  uint32_t event_count = 0;
  bool from_journal = false;
  bool has_steps = false;         // at least one STEP
  bool has_failed_frees = false;  // at least one FREE_FAILED
};

// What one thread recorded, in its own order and without overlap; gaps are where events were lost.
struct ThreadBlocks {
  uint32_t thread = 0;
  std::vector<BlockRef> blocks;  // empty for a thread that is known from the past only
  // Of the past of a trace of bounded size.
  uint64_t past_events = 0, past_allocations = 0;
  uint64_t past_steps = 0, first_past_step = 0;  // the latter a time
};

// One traced process, opened for reading: everything but the events themselves, which EventStream reads. Thread-safe
// once it is open.
class Trace {
 public:
  // The error is one line that names the file, the offset where there is one, and what to do. A cut or damaged file is
  // no error: what could be read is there, and the rest is in damage(). The process may be running: what it had
  // recorded a moment ago is there.
  static absl::StatusOr<std::unique_ptr<Trace>> Open(const std::string& path);
  // As Open, from memory that stays as long as the trace. `name` stands for the path.
  static absl::StatusOr<std::unique_ptr<Trace>> Read(std::string_view bytes, const std::string& name);

  const std::string& path() const { return path_; }
  uint64_t file_bytes() const { return bytes_.size(); }
  const Definitions& definitions() const { return definitions_; }
  const TickClock& clock() const { return clock_; }
  const IndexedVector<ThreadSlot, ThreadBlocks>& threads() const { return threads_; }  // by number
  // None for a thread that is not one of threads(). `thread`: its number in the trace.
  ThreadSlot SlotOf(uint32_t thread) const;
  // What a trace of bounded size keeps of events before its blocks; null where there is nothing.
  const Checkpoint* past() const { return past_.get(); }
  uint64_t events() const { return events_; }  // in all blocks, and those of the past
  // Frames of CUPTI's activity records that count, in the order of the file; see ActivityStream.
  const std::vector<FrameRef>& activities() const { return layout_.activities; }
  // Bit 1 << d is set if blocks of a framework's allocator on device d are in it; d < 64.
  uint64_t framework_devices() const { return framework_devices_; }

  bool finished() const { return layout_.finished; }
  // Whether the process writes to the file, so that this is its record up to a moment ago.
  bool running() const { return state_ == ProcessState::kRunning; }
  // Whether its size is bounded.
  bool bounded() const { return counter(schema::COUNTER_MAX_BYTES) != 0; }
  uint64_t counter(uint32_t which) const { return layout_.counters[which]; }
  uint64_t end_ticks() const { return layout_.end_ticks; }  // 0 unless finished

  const std::vector<Damage>& damage() const { return layout_.damage; }
  uint64_t lost_bytes() const;
  // Events that the process could not record, and those that gaps in its threads' numbering show to be missing. More
  // may be missing at the end of a thread.
  uint64_t lost_events() const { return lost_events_; }

  // Whether the process ended normally and the file holds all that it did; otherwise why not, in one line.
  std::string IncompleteWhy() const;

  // A hint that the bytes [begin, end) of the file will not be read again soon. Of little use for less than some MiB:
  // the system maps what lies around a page that is read, too.
  void Release(uint64_t begin, uint64_t end) const;

 private:
  absl::Status Map(bool copy);
  absl::Status Load();
  void RecoverJournals();
  void AddBlock(const FrameRef& frame, bool from_journal);
  void OrderBlocks();
  void LoadPast();
  void AddPastThreads(std::map<uint32_t, ThreadBlocks>* threads) const;
  void ForgiveTornFrames();
  bool IsNoLoss(const Damage& damage) const;
  bool IsTorn() const;

  std::string path_;
  MappedFile file_;
  std::string copy_;  // of a file whose blocks may be written over
  std::string_view bytes_;
  std::unique_ptr<JournalCopies> journals_;  // null: as they are in bytes_
  bool base_changed_ = false;                // while it was read
  ProcessState state_ = ProcessState::kUnknown;
  TraceLayout layout_;
  std::deque<std::string> recovered_;  // payloads made from journals
  std::string past_bytes_;
  std::unique_ptr<Checkpoint> past_;
  Definitions definitions_;
  TickClock clock_;
  IndexedVector<ThreadSlot, ThreadBlocks> threads_;
  uint64_t events_ = 0, lost_events_ = 0, gap_events_ = 0, framework_devices_ = 0;
};

// Gives back the memory of what lies behind someone who reads a trace from its beginning to its end. Thread-compatible.
class ReleaseBehind {
 public:
  explicit ReleaseBehind(const Trace& trace) : trace_(trace) {}

  // Nothing before `offset` will be read again. Less than the last one: nothing happens.
  void Passed(uint64_t offset) {
    if (offset < released_ + kStride) return;
    trace_.Release(released_, offset);
    released_ = offset;
  }

 private:
  static constexpr uint64_t kStride = 8 << 20;

  const Trace& trace_;
  uint64_t released_ = 0;
};

}  // namespace vramtrack

#endif  // ANALYZER_INGEST_TRACE_H_
