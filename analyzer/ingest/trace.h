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

// A block with a valid header. The payload is valid as long as the trace.
struct BlockRef {
  std::string_view payload;
  uint64_t offset = 0;  // file offset of the frame, or of the journal that the block was made from
  uint64_t first_sequence = 0, first_allocation = 0, first_time = 0;
  uint32_t event_count = 0;
  bool from_journal = false;
  bool has_steps = false;         // at least one STEP
  bool has_failed_frees = false;  // at least one FREE_FAILED
};

// The blocks of one thread, in the order of recording and without overlap. There are gaps where events were lost.
struct ThreadBlocks {
  uint32_t thread = 0;
  std::vector<BlockRef> blocks;  // empty for a thread that is known from the past only
  // Counts from the past of a trace of bounded size.
  uint64_t past_events = 0, past_allocations = 0;
};

// One traced process, opened for reading. It holds everything except the events, which EventStream reads. Thread-safe
// once it is open.
class Trace {
 public:
  // Opens a trace. An error is one line with the file's name, the offset if there is one, and what to do. A truncated
  // or damaged file is not an error: the readable part is available, and damage() lists the rest. The process may still
  // be running; the trace then ends a moment ago.
  static absl::StatusOr<std::unique_ptr<Trace>> Open(const std::string& path);
  // Like Open, but reads from memory, which must outlive the trace. `name` is used as the path.
  static absl::StatusOr<std::unique_ptr<Trace>> Read(std::string_view bytes, const std::string& name);

  const std::string& path() const { return path_; }
  uint64_t file_bytes() const { return bytes_.size(); }
  const Definitions& definitions() const { return definitions_; }
  const TickClock& clock() const { return clock_; }
  const IndexedVector<ThreadSlot, ThreadBlocks>& threads() const { return threads_; }  // by number
  // Returns the slot of the thread with number `thread` in the trace; None() if it is not in threads().
  ThreadSlot SlotOf(uint32_t thread) const;
  // Returns what a trace of bounded size keeps of the events before its blocks; null if there is nothing. Owned by the
  // trace.
  const Checkpoint* past() const { return past_.get(); }
  uint64_t events() const { return events_; }  // number of events in all blocks and in the past
  // Returns the frames of valid CUPTI activity records, in the order of the file; see ActivityStream.
  const std::vector<FrameRef>& activities() const { return layout_.activities; }
  // Returns the frames of walks through Python's objects, in the order of the file; see HolderWalks.
  const std::vector<FrameRef>& holder_walks() const { return layout_.holder_walks; }
  // Returns a bit mask: bit d is set if the trace has blocks of a framework's allocator on device d, for d < 64.
  uint64_t framework_devices() const { return framework_devices_; }
  // Whether there are blocks of a framework's pool of pinned memory.
  bool has_pinned_blocks() const { return has_pinned_blocks_; }

  bool finished() const { return layout_.finished; }
  // Returns whether the process still writes to the file. The trace is then its record up to a moment ago.
  bool running() const { return state_ == ProcessState::kRunning; }
  // Returns whether the size of the trace file is bounded.
  bool bounded() const { return counter(schema::COUNTER_MAX_BYTES) != 0; }
  uint64_t counter(uint32_t which) const { return layout_.counters[which]; }
  uint64_t end_ticks() const { return layout_.end_ticks; }  // 0 unless finished

  const std::vector<Damage>& damage() const { return layout_.damage; }
  uint64_t lost_bytes() const;
  // Returns the number of events that the process could not record, plus those that are missing according to gaps in
  // its threads' numbering. More may be missing at the end of a thread.
  uint64_t lost_events() const { return lost_events_; }

  // Returns false if the file names no process and has no events: its beginning was cut off or overwritten.
  bool HasBeginning() const { return events_ > 0 || definitions_.process.pid != 0; }
  // Returns why the trace is incomplete, in one line; empty if the process ended normally and the file has all events.
  std::string IncompleteWhy() const;

  // Returns the time of the latest event of the blocks, in ticks; 0 if there is none. Reads the last block of each
  // thread.
  uint64_t NewestTicks() const;
  // From now on, EventStream and StepCandidates end at the last event that is not later than `ticks`.
  void LeaveOutAfter(uint64_t ticks) { read_until_ = ticks; }
  uint64_t read_until() const { return read_until_; }

  // Becomes `*newer`, a later reading of the same file, whose time limit is not earlier. What was read from this one
  // stays valid: slots of threads, indices of stacks and the order of events. Returns false, and changes nothing, if
  // that is not so. References to definitions, blocks and bytes of the old reading become invalid.
  bool Continue(std::unique_ptr<Trace>* newer);

  // Hints that the bytes [begin, end) of the file will not be read again soon. Ranges of less than a few MiB gain
  // little, because the system also maps the pages around each page that is read.
  void Release(uint64_t begin, uint64_t end) const;

 private:
  Trace() = default;
  Trace& operator=(Trace&&) = default;

  bool IsContinuedBy(const Trace& newer) const;
  absl::Status Map(bool copy);
  absl::Status Load();
  void RecoverJournals();
  void AddBlock(const FrameRef& frame, bool from_journal);
  void OrderBlocks();
  void LoadPast();
  void DropEarlierGenerations();
  void AddPastThreads(std::map<uint32_t, ThreadBlocks>* threads) const;
  void ForgiveTornFrames();
  bool IsNoLoss(const Damage& damage) const;
  bool IsTorn() const;

  std::string path_;
  MappedFile file_;
  std::string copy_;  // a copy of a file whose blocks may be overwritten
  std::string_view bytes_;
  std::unique_ptr<JournalCopies> journals_;  // null: the journals in bytes_ are used
  bool base_changed_ = false;                // changed while it was read
  ProcessState state_ = ProcessState::kUnknown;
  TraceLayout layout_;
  std::deque<std::string> recovered_;  // payloads made from journals
  std::vector<JournalHeader> journal_headers_;
  std::string past_bytes_;
  std::unique_ptr<Checkpoint> past_;
  Definitions definitions_;
  TickClock clock_;
  IndexedVector<ThreadSlot, ThreadBlocks> threads_;
  uint64_t events_ = 0, lost_events_ = 0, gap_events_ = 0, framework_devices_ = 0;
  bool has_pinned_blocks_ = false;
  uint64_t read_until_ = UINT64_MAX;  // ticks
};

// Releases the memory of the part of a trace that was already read, for a reader that goes from its beginning to its
// end. Thread-compatible.
class ReleaseBehind {
 public:
  explicit ReleaseBehind(const Trace& trace) : trace_(trace) {}

  // States that nothing before `offset` will be read again. Memory is released in pieces of kStride bytes.
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
