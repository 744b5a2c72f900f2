// SPDX-License-Identifier: Apache-2.0
#include "analyzer/ingest/trace.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "analyzer/ingest/journal_recovery.h"
#include "proto/activity_decoder.h"
#include "proto/block_decoder.h"
#include "proto/holder_walk_decoder.h"

namespace vramtrack {
namespace {

// Of reading a trace that changes.
constexpr int kMostTries = 8;

uint64_t BaseGeneration(std::string_view file) {
  constexpr size_t kOffset = kHeaderCountersOffset + 8 * schema::COUNTER_BASE_GENERATION;
  if (file.size() < kHeaderBytes) return 0;
  return __atomic_load_n(reinterpret_cast<const uint64_t*>(file.data() + kOffset), __ATOMIC_ACQUIRE);
}

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

const char* StateText(ProcessState state) {
  switch (state) {
    case ProcessState::kRunning:
      return "the process is still running: everything up to a moment ago is there";
    case ProcessState::kEnded:
      return "the process was killed, called _exit, or became another program (exec): everything up to its last moment "
             "is there";
    case ProcessState::kUnknown:
      break;
  }
  return "the process was killed, called _exit, became another program (exec), or is still running: everything up to "
         "its last moment "
         "is there";
}

}  // namespace

absl::StatusOr<std::unique_ptr<Trace>> Trace::Open(const std::string& path) {
  bool copy = false;
  for (int tries = 0;; ++tries) {
    std::unique_ptr<Trace> trace(new Trace);
    trace->path_ = path;
    if (absl::Status status = trace->Map(copy); !status.ok()) return status;
    if (absl::Status status = trace->Load(); !status.ok()) return status;
    if (trace->finished()) return trace;
    trace->state_ = StateOf(trace->definitions().process, path);
    if (trace->state_ == ProcessState::kEnded) {
      if (!trace->IsTorn() || tries > 0) return trace;
      continue;  // it may have ended a moment ago
    }
    if (trace->bounded() && !copy) {
      copy = true;
      continue;
    }
    // Whose trace it is may be in the very part that was being written over.
    const bool may_run = trace->running() || (trace->bounded() && trace->definitions().process.pid == 0);
    if (!may_run || !trace->IsTorn() || tries == kMostTries) return trace;
    // Something was written over while it was read.
    absl::SleepFor(absl::Milliseconds(1 << tries));
  }
}

absl::Status Trace::Map(bool copy) {
  absl::StatusOr<MappedFile> before = MappedFile::Open(path_);
  if (!before.ok()) return before.status();
  const uint64_t base = BaseGeneration(before->bytes());
  journals_ = std::make_unique<JournalCopies>(CopyJournals(before->bytes()));
  // Blocks that were written meanwhile belong to it: what they hold may have been in a journal before.
  absl::StatusOr<MappedFile> now = MappedFile::Open(path_);
  if (!now.ok()) return now.status();
  if (copy) {
    copy_ = std::string(now->bytes());
    bytes_ = copy_;
    base_changed_ = BaseGeneration(now->bytes()) != base;
    return absl::OkStatus();
  }
  file_ = *std::move(now);
  bytes_ = file_.bytes();
  return absl::OkStatus();
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

  ReleaseBehind behind(*this);
  for (const FrameRef& frame : layout_.blocks) {
    AddBlock(frame, false);
    behind.Passed(frame.offset);
  }
  DropEarlierGenerations();
  RecoverJournals();
  OrderBlocks();
  ForgiveTornFrames();
  definitions_.Freeze();
  return absl::OkStatus();
}

// Leaves out frames of a bounded file whose room is free.
void Trace::DropEarlierGenerations() {
  const uint64_t base = counter(schema::COUNTER_BASE_GENERATION);
  if (base == 0) return;
  const auto drop = [](std::vector<FrameRef>* frames, auto gone) {
    frames->erase(std::remove_if(frames->begin(), frames->end(), gone), frames->end());
  };
  drop(&layout_.activities, [base](const FrameRef& frame) {
    DecodedActivities header;
    return ReadActivitiesHeader(frame.payload, &header) && header.generation < base;
  });
  drop(&layout_.holder_walks, [base](const FrameRef& frame) {
    DecodedHolderWalk header;
    return ReadHolderWalkHeader(frame.payload, &header) && header.generation < base;
  });
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
  for (const Checkpoint::Site& site : past->sites) {
    has_pinned_blocks_ |= site.kind == schema::PINNED_BLOCK;
    if (site.kind == schema::FRAMEWORK_BLOCK && site.device < 64) framework_devices_ |= uint64_t{1} << site.device;
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
  for (const CheckpointRecord& record : past_->records) {
    const bool of_thread =
        record.field == schema::checkpoint_field::marks || record.field == schema::checkpoint_field::steps;
    if (of_thread) add(static_cast<uint32_t>(record.thread));
  }
  if (threads->empty()) add(0);  // who recorded what the sums stand for is not known
}

ThreadSlot Trace::SlotOf(uint32_t thread) const {
  const auto found = std::lower_bound(threads_.begin(), threads_.end(), thread,
                                      [](const ThreadBlocks& blocks, uint32_t t) { return blocks.thread < t; });
  if (found == threads_.end() || found->thread != thread) return ThreadSlot::None();
  return ThreadSlot(static_cast<uint32_t>(found - threads_.begin()));
}

void Trace::RecoverJournals() {
  JournalRecovery recovery;
  for (const FrameRef& journal : layout_.journals) {
    std::string lost;
    uint64_t lost_bytes = 0;
    std::string_view words = journal.payload;
    if (journals_ != nullptr) {
      const auto copied = journals_->find(journal.offset);
      if (copied == journals_->end()) continue;  // of a thread that began a moment ago
      words = copied->second;
    }
    std::string payload = recovery.Recover(words, &lost_bytes, &lost);
    if (!lost.empty()) layout_.damage.push_back({journal.offset, lost_bytes, lost});
    if (const auto header = ReadJournalHeader(words)) journal_headers_.push_back(*header);
    if (payload.empty()) continue;
    recovered_.push_back(std::move(payload));
    AddBlock({journal.offset, recovered_.back()}, true);
  }
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
  framework_devices_ |= header.framework_devices;
  has_pinned_blocks_ |= header.has_pinned_blocks;
  const auto has = [&header](schema::Operation operation) { return (header.operations >> operation & 1) != 0; };
  threads_.back().blocks.push_back({frame.payload, frame.offset, header.first_sequence, header.first_allocation,
                                    header.first_time, header.event_count, from_journal, has(schema::STEP),
                                    has(schema::FREE_FAILED)});
}

// A process that is killed while it writes a frame leaves the beginning of it. Nothing else is lost.
void Trace::ForgiveTornFrames() {
  std::vector<Damage>& damage = layout_.damage;
  damage.erase(std::remove_if(damage.begin(), damage.end(), [this](const Damage& torn) { return IsNoLoss(torn); }),
               damage.end());
  // A trailer is written before the counter says so.
  if (counter(schema::COUNTER_FINISHED) != 0 && !finished()) {
    damage.push_back({bytes_.size(), 0, "the file ends before its trailer"});
  }
  std::stable_sort(damage.begin(), damage.end(), [](const Damage& a, const Damage& b) { return a.offset < b.offset; });
}

bool Trace::IsNoLoss(const Damage& torn) const {
  const bool at_the_end = torn.offset + torn.bytes == bytes_.size();
  if (!bounded() && !at_the_end) return false;
  // So short that it does not say whose it is: each thread has all of its events, or they are counted as lost.
  if (torn.bytes <= kSealedPrefixBytes) return at_the_end && gap_events_ == 0;
  const std::string_view payload = bytes_.substr(torn.offset + kSealedPrefixBytes, torn.bytes - kSealedPrefixBytes);
  const auto tag = static_cast<uint8_t>(bytes_[torn.offset]);
  // What a checkpoint says counts only when the next one is to be written.
  if (tag == FrameTag(schema::trace_field::checkpoint_parts)) {
    return GenerationOfPart(payload) != counter(schema::COUNTER_BASE_GENERATION);
  }
  // CUPTI's records are in nobody's journal: those of a frame that was being written are gone with the process.
  if (tag == FrameTag(schema::trace_field::activities)) return true;
  // So is the rest of a walk that was being written.
  if (tag == FrameTag(schema::trace_field::holder_walks)) return true;
  // A thread's journal is emptied when its block is written, and not before. Of a finished file too: other threads may
  // go on while the process ends.
  if (tag != FrameTag(schema::trace_field::blocks)) return false;
  uint32_t thread = 0;
  uint64_t first_sequence = 0;
  if (!BlockDecoder::ReadOrigin(payload, &thread, &first_sequence)) return at_the_end && gap_events_ == 0;
  return std::any_of(journal_headers_.begin(), journal_headers_.end(), [&](const JournalHeader& journal) {
    return journal.committed != 0 && journal.thread == thread && journal.first_sequence == first_sequence;
  });
}

bool Trace::IsTorn() const { return base_changed_ || !damage().empty() || gap_events_ > 0; }

void Trace::OrderBlocks() {
  std::map<uint32_t, ThreadBlocks> by_thread;
  AddPastThreads(&by_thread);
  for (ThreadBlocks& part : threads_) {
    ThreadBlocks& whole = by_thread[part.thread];
    whole.thread = part.thread;
    whole.blocks.insert(whole.blocks.end(), part.blocks.begin(), part.blocks.end());
  }
  threads_.clear();
  // An empty journal says how many events of its thread are in blocks.
  std::map<uint32_t, uint64_t> written;
  for (const JournalHeader& journal : journal_headers_) {
    written[journal.thread] = std::max(written[journal.thread], journal.first_sequence);
  }
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
      gap_events_ += block.first_sequence - expected;
      expected = block.first_sequence + block.event_count;
      events_ += block.event_count;
      kept.blocks.push_back(block);
    }
    gap_events_ += std::max(written[thread], expected) - expected;
    if (!kept.blocks.empty() || past_ != nullptr) threads_.push_back(std::move(kept));
  }
  lost_events_ += gap_events_;
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
    add(StateText(state_));
  }
  if (!damage().empty()) {
    add(absl::StrCat(lost_bytes(), " bytes of the file are damaged, first at offset ", damage().front().offset, ": ",
                     damage().front().reason));
  }
  if (lost_events() > 0) add(absl::StrCat(lost_events(), " events were lost"));
  if (!HasBeginning()) add("its beginning is missing");
  return why;
}

uint64_t Trace::NewestTicks() const {
  uint64_t newest = 0;
  for (const ThreadBlocks& thread : threads_) {
    if (thread.blocks.empty()) continue;
    newest = std::max(newest, thread.blocks.back().first_time);
    BlockDecoder decoder;
    if (!decoder.Open(thread.blocks.back().payload)) continue;
    for (DecodedEvent event; decoder.Next(&event);) newest = std::max(newest, event.time);
  }
  return newest;
}

bool Trace::IsContinuedBy(const Trace& newer) const {
  const TracedProcess &process = definitions_.process, &other = newer.definitions_.process;
  if (process.pid != other.pid || process.host != other.host || process.run_id != other.run_id) return false;
  if (clock_.start_ticks() != newer.clock_.start_ticks() || newer.read_until_ < read_until_) return false;
  if (past_ != nullptr || newer.past_ != nullptr || threads_.size() != newer.threads_.size()) return false;
  for (const ThreadSlot slot : threads_.indices()) {
    const ThreadBlocks &before = threads_[slot], &now = newer.threads_[slot];
    if (before.thread != now.thread || before.blocks.empty() || now.blocks.empty()) return false;
    if (before.blocks.front().first_sequence != now.blocks.front().first_sequence) return false;
    if (before.blocks.back().first_sequence > now.blocks.back().first_sequence) return false;
  }
  return framework_devices_ == newer.framework_devices_ && has_pinned_blocks_ == newer.has_pinned_blocks_ &&
         definitions_.torch_pinned_pool() == newer.definitions_.torch_pinned_pool() &&
         newer.definitions_.stacks.BeginsWith(definitions_.stacks);
}

bool Trace::Continue(std::unique_ptr<Trace>* newer) {
  if (!IsContinuedBy(**newer)) return false;
  *this = std::move(**newer);
  newer->reset();
  return true;
}

void Trace::Release(uint64_t begin, uint64_t end) const {
  if (!file_.bytes().empty() && begin < end && end <= bytes_.size())
    MappedFile::Release(bytes_.substr(begin, end - begin));
}

}  // namespace vramtrack
