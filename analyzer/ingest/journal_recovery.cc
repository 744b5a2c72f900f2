// SPDX-License-Identifier: Apache-2.0
#include "analyzer/ingest/journal_recovery.h"

#include <algorithm>
#include <cstring>

#include "analyzer/ingest/mapped_file.h"
#include "proto/frame_scanner.h"
#include "proto/journal.h"

namespace vramtrack {
namespace {

// Ticks are kept as they are: nothing is gained from a smaller block here.
constexpr uint32_t kTimeShift = 0;
constexpr size_t kMaxWords = kMaxJournalBytes / 8;

uint64_t WordAt(std::string_view words, JournalHeaderWord word) {
  uint64_t value;
  std::memcpy(&value, words.data() + 8 * word, sizeof value);
  return value;
}

}  // namespace

std::optional<JournalHeader> ReadJournalHeader(std::string_view words) {
  if (words.size() < 8 * kJournalHeaderWords) return std::nullopt;
  const uint64_t thread = WordAt(words, kJournalThread);
  if (thread > UINT32_MAX) return std::nullopt;
  return JournalHeader{static_cast<uint32_t>(thread), WordAt(words, kJournalCommitted),
                       WordAt(words, kJournalFirstSequence)};
}

JournalRecovery::JournalRecovery() = default;
JournalRecovery::~JournalRecovery() = default;

std::string JournalRecovery::Recover(std::string_view words, uint64_t* lost_bytes, std::string* why) {
  const size_t available = std::min(words.size() / 8, kMaxWords);
  if (available < kJournalHeaderWords) return "";
  const uint64_t committed = WordAt(words, kJournalCommitted);
  if (committed == 0) return "";
  // Few files need it, and it is large.
  if (encoder_ == nullptr) {
    encoder_ = std::make_unique<BlockEncoder>();
    aligned_ = std::make_unique<uint64_t[]>(kMaxWords);
  }
  // A damaged file may have it at any offset.
  std::memcpy(aligned_.get(), words.data(), 8 * available);
  const std::optional<JournalHeader> header = ReadJournalHeader(words);
  if (committed > kMaxWords || !header) {
    *lost_bytes = 8 * available;
    *why = "a journal's header makes no sense";
    return "";
  }
  const size_t used = std::min<size_t>(committed, available - kJournalHeaderWords);
  if (used < committed) {
    *lost_bytes = 8 * (committed - used);
    *why = "the file ends inside a journal";
  }
  const JournalView view = {header->thread, header->first_sequence, aligned_[kJournalFirstAllocation],
                            aligned_.get() + kJournalHeaderWords, used};
  size_t frame_bytes = 0, words_read = 0;
  BlockSummary summary;
  const uint8_t* frame = encoder_->Encode(view, kTimeShift, &frame_bytes, &summary, &words_read);
  // The last record may be cut together with the file.
  if (words_read < used && why->empty()) {
    *lost_bytes = 8 * (used - words_read);
    *why = "a record of a journal makes no sense";
  }
  if (frame_bytes == 0) return "";
  return std::string(reinterpret_cast<const char*>(frame) + kSealedPrefixBytes, frame_bytes - kSealedPrefixBytes);
}

namespace {

// A thread empties its journal every few thousand events: it does not do that often while it is copied.
constexpr int kTries = 1000;

uint64_t Load(const char* word) { return __atomic_load_n(reinterpret_cast<const uint64_t*>(word), __ATOMIC_ACQUIRE); }

std::string CopyJournal(std::string_view words) {
  const char* at = words.data();
  // Of a damaged file; nobody writes there.
  if (reinterpret_cast<uintptr_t>(at) % 8 != 0 || words.size() < 8 * kJournalHeaderWords) return std::string(words);
  const uint64_t most = words.size() / 8 - kJournalHeaderWords;
  for (int i = 0; i < kTries; ++i) {
    const uint64_t turns = Load(at + 8 * kJournalTurns);
    const uint64_t committed = Load(at + 8 * kJournalCommitted);
    std::string copy(words.substr(0, 8 * (kJournalHeaderWords + std::min(committed, most))));
    std::memcpy(&copy[8 * kJournalCommitted], &committed, sizeof committed);
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    if (Load(at + 8 * kJournalTurns) == turns && Load(at + 8 * kJournalCommitted) >= committed) return copy;
  }
  return std::string(8 * kJournalHeaderWords, '\0');
}

}  // namespace

JournalCopies CopyJournals(std::string_view file) {
  JournalCopies copies;
  for (const FrameRef& journal : FindJournals(file, MappedFile::Release))
    copies[journal.offset] = CopyJournal(journal.payload);
  return copies;
}

}  // namespace vramtrack
