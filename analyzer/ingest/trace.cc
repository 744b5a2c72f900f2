// SPDX-License-Identifier: Apache-2.0
#include "analyzer/ingest/trace.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "analyzer/ingest/journal_recovery.h"
#include "proto/block_decoder.h"

namespace vramtrack {
namespace {

constexpr uint64_t kReleaseBytes = 8u << 20;

const char* StopReasonText(uint64_t reason) {
  switch (reason) {
    case schema::STOP_DISK_FULL:
      return "the disk was full";
    case schema::STOP_SIZE_CAP:
      return "the trace reached its size limit";
    case schema::STOP_WRITE_ERROR:
      return "the trace could not be written";
    case schema::STOP_FILE_TAKEN:
      return "the process closed the trace and it could not be opened again";
    case schema::STOP_OUT_OF_MEMORY:
      return "the process had no memory left for recording";
    default:
      return "recording stopped";
  }
}

}  // namespace

absl::StatusOr<std::unique_ptr<Trace>> Trace::Open(const std::string& path) {
  absl::StatusOr<MappedFile> file = MappedFile::Open(path);
  if (!file.ok()) return file.status();
  std::unique_ptr<Trace> trace(new Trace);
  trace->path_ = path;
  trace->file_ = *std::move(file);
  trace->bytes_ = trace->file_.bytes();
  if (absl::Status status = trace->Load(); !status.ok()) return status;
  return trace;
}

absl::StatusOr<std::unique_ptr<Trace>> Trace::Read(std::string_view bytes, const std::string& name) {
  std::unique_ptr<Trace> trace(new Trace);
  trace->path_ = name;
  trace->bytes_ = bytes;
  if (absl::Status status = trace->Load(); !status.ok()) return status;
  return trace;
}

absl::Status Trace::Load() {
  const bool mapped = !file_.bytes().empty();
  const std::string error = ScanTrace(bytes_, &layout_, [mapped](std::string_view passed) {
    if (mapped) MappedFile::Release(passed);
  });
  if (!error.empty()) return absl::DataLossError(absl::StrCat(path_, ": offset 0: ", error));
  clock_ = TickClock(layout_.counters);
  LoadPast();

  uint64_t released = 0;
  for (const FrameRef& frame : layout_.blocks) {
    AddBlock(frame, false);
    if (mapped && frame.offset - released >= kReleaseBytes) {
      MappedFile::Release(bytes_.substr(released, frame.offset - released));
      released = frame.offset;
    }
  }
  RecoverJournals();
  ForgiveTornBlock();
  OrderBlocks();
  definitions_.Freeze();
  return absl::OkStatus();
}

// The checkpoint with which the oldest generation of blocks begins that counts.
void Trace::LoadPast() {
  const uint64_t base = counter(schema::COUNTER_BASE_GENERATION);
  if (base == 0) return;
  auto past = std::make_unique<Checkpoint>();
  if (base > UINT32_MAX || !JoinCheckpoint(layout_.checkpoint_parts, static_cast<uint32_t>(base), &past_bytes_) ||
      !ReadCheckpoint(past_bytes_, past.get())) {
    layout_.damage.push_back({kHeaderBytes, 0, "the checkpoint makes no sense: what came before it is lost"});
    return;
  }
  if (!definitions_.Add(past->definitions)) {
    layout_.damage.push_back({kHeaderBytes, 0, "the definitions of the checkpoint make no sense"});
  }
  past_ = std::move(past);
}

void Trace::AddPastThreads(std::map<uint32_t, ThreadBlocks>* threads) const {
  if (past_ == nullptr) return;
  const auto add = [threads](uint32_t thread) -> ThreadBlocks& {
    ThreadBlocks& part = (*threads)[thread];
    part.thread = thread;
    return part;
  };
  for (const Checkpoint::Thread& thread : past_->threads) {
    ThreadBlocks& part = add(thread.index);
    part.past_events = thread.events;
    part.past_allocations = thread.allocations;
  }
  for (const Checkpoint::Live& live : past_->live) add(live.thread);
  for (const Checkpoint::Steps& steps : past_->steps) {
    ThreadBlocks& part = add(steps.thread);
    if (part.past_steps == 0 || steps.first_time < part.first_past_step) part.first_past_step = steps.first_time;
    part.past_steps += steps.count;
  }
  if (threads->empty()) add(0);  // who recorded what the sums stand for is not known
}

uint32_t Trace::SlotOf(uint32_t thread) const {
  const auto found = std::lower_bound(threads_.begin(), threads_.end(), thread,
                                      [](const ThreadBlocks& blocks, uint32_t t) { return blocks.thread < t; });
  if (found == threads_.end() || found->thread != thread) return kNoSlot;
  return static_cast<uint32_t>(found - threads_.begin());
}

void Trace::RecoverJournals() {
  JournalRecovery recovery;
  for (const FrameRef& journal : layout_.journals) {
    std::string lost;
    uint64_t lost_bytes = 0;
    std::string payload = recovery.Recover(journal.payload, &lost_bytes, &lost);
    if (!lost.empty()) layout_.damage.push_back({journal.offset, lost_bytes, lost});
    if (payload.empty()) continue;
    recovered_.push_back(std::move(payload));
    AddBlock({journal.offset, recovered_.back()}, true);
  }
  std::stable_sort(layout_.damage.begin(), layout_.damage.end(),
                   [](const Damage& a, const Damage& b) { return a.offset < b.offset; });
}

void Trace::AddBlock(const FrameRef& frame, bool from_journal) {
  BlockHeader header;
  // An event takes a byte in each of two columns at least; a count beyond that would fake a gap.
  if (!BlockDecoder::ReadHeader(frame.payload, &header) || header.event_count > frame.payload.size() / 2) {
    layout_.damage.push_back({frame.offset, frame.payload.size(), "a block's header makes no sense"});
    return;
  }
  if (!from_journal && header.generation < counter(schema::COUNTER_BASE_GENERATION)) return;  // its room is free
  if (!definitions_.Add(header.definitions)) {
    layout_.damage.push_back({frame.offset, header.definitions.size(), "a block's definitions make no sense"});
  }
  // Threads come in any order; they are put in order afterwards.
  if (threads_.empty() || threads_.back().thread != header.thread) threads_.push_back({header.thread, {}});
  const auto has = [&header](schema::Operation operation) { return (header.operations >> operation & 1) != 0; };
  threads_.back().blocks.push_back({frame.payload, frame.offset, header.first_sequence, header.first_allocation,
                                    header.first_time, header.event_count, from_journal, has(schema::STEP),
                                    has(schema::FREE_FAILED)});
}

// A process that is killed while it appends a block leaves the beginning of it at the end of the file. That is no loss:
// the thread's journal is emptied afterwards only.
void Trace::ForgiveTornBlock() {
  // In a finished file too: other threads may go on while the process ends.
  if (layout_.damage.empty()) return;
  const Damage& torn = layout_.damage.back();
  if (torn.offset + torn.bytes != bytes_.size() || torn.bytes <= kSealedPrefixBytes) return;
  uint32_t thread = 0;
  uint64_t first_sequence = 0;
  BlockDecoder::ReadOrigin(bytes_.substr(torn.offset + kSealedPrefixBytes), &thread, &first_sequence);
  for (const ThreadBlocks& part : threads_) {
    for (const BlockRef& block : part.blocks) {
      if (block.from_journal && part.thread == thread && block.first_sequence == first_sequence) {
        layout_.damage.pop_back();
        return;
      }
    }
  }
}

void Trace::OrderBlocks() {
  std::map<uint32_t, ThreadBlocks> by_thread;
  AddPastThreads(&by_thread);
  for (ThreadBlocks& part : threads_) {
    ThreadBlocks& whole = by_thread[part.thread];
    whole.thread = part.thread;
    whole.blocks.insert(whole.blocks.end(), part.blocks.begin(), part.blocks.end());
  }
  threads_.clear();
  lost_events_ = counter(schema::COUNTER_LOST_EVENTS);
  if (past_ != nullptr) events_ = past_->events;
  for (auto& [thread, whole] : by_thread) {
    std::sort(whole.blocks.begin(), whole.blocks.end(), [](const BlockRef& a, const BlockRef& b) {
      return std::tie(a.first_sequence, a.from_journal, a.offset) <
             std::tie(b.first_sequence, b.from_journal, b.offset);
    });
    ThreadBlocks kept = whole;
    kept.blocks.clear();
    uint64_t expected = whole.past_events;
    for (const BlockRef& block : whole.blocks) {
      if (block.event_count == 0) continue;
      if (block.first_sequence < expected) {
        // A process that is killed between sealing a journal and emptying it leaves its events in both places.
        if (!block.from_journal) {
          layout_.damage.push_back({block.offset, block.payload.size(), "a block repeats events of its thread"});
        }
        continue;
      }
      lost_events_ += block.first_sequence - expected;
      expected = block.first_sequence + block.event_count;
      events_ += block.event_count;
      kept.blocks.push_back(block);
    }
    if (!kept.blocks.empty() || past_ != nullptr) threads_.push_back(std::move(kept));
  }
}

uint64_t Trace::lost_bytes() const {
  uint64_t sum = 0;
  for (const Damage& damage : layout_.damage) sum += damage.bytes;
  return sum;
}

std::string Trace::IncompleteWhy() const {
  std::string why;
  const auto add = [&why](const std::string& reason) { absl::StrAppend(&why, why.empty() ? "" : "; ", reason); };
  if (const uint64_t reason = counter(schema::COUNTER_STOP_REASON); reason != schema::STOP_NONE) {
    add(StopReasonText(reason));
  } else if (!finished()) {
    add("the process was killed or is still running: everything up to its last moment is there");
  }
  if (!damage().empty()) {
    add(absl::StrCat(lost_bytes(), " bytes of the file are damaged, first at offset ", damage().front().offset, ": ",
                     damage().front().reason));
  }
  if (lost_events() > 0) add(absl::StrCat(lost_events(), " events were lost"));
  return why;
}

void Trace::Release(const BlockRef& block) const {
  if (!file_.bytes().empty() && !block.from_journal) MappedFile::Release(block.payload);
}

}  // namespace vramtrack
