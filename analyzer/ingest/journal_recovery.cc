// SPDX-License-Identifier: Apache-2.0
#include "analyzer/ingest/journal_recovery.h"

#include <algorithm>
#include <cstring>

#include "proto/journal.h"

namespace vramtrack {
namespace {

// Ticks are kept as they are: nothing is gained from a smaller block here.
constexpr uint32_t kTimeShift = 0;
constexpr size_t kMaxWords = kMaxJournalBytes / 8;

}  // namespace

JournalRecovery::JournalRecovery() = default;
JournalRecovery::~JournalRecovery() = default;

std::string JournalRecovery::Recover(std::string_view words, uint64_t* lost_bytes, std::string* why) {
  const size_t available = std::min(words.size() / 8, kMaxWords);
  if (available < kJournalHeaderWords) return "";
  uint64_t committed;
  std::memcpy(&committed, words.data() + 8 * kJournalCommitted, sizeof committed);
  if (committed == 0) return "";
  // Few files need it, and it is large.
  if (encoder_ == nullptr) {
    encoder_ = std::make_unique<BlockEncoder>();
    aligned_ = std::make_unique<uint64_t[]>(kMaxWords);
  }
  // A damaged file may have it at any offset.
  std::memcpy(aligned_.get(), words.data(), 8 * available);
  if (committed > kMaxWords || aligned_[kJournalThread] > UINT32_MAX) {
    *lost_bytes = 8 * available;
    *why = "a journal's header makes no sense";
    return "";
  }
  const size_t used = std::min<size_t>(committed, available - kJournalHeaderWords);
  if (used < committed) {
    *lost_bytes = 8 * (committed - used);
    *why = "the file ends inside a journal";
  }
  const JournalView view = {static_cast<uint32_t>(aligned_[kJournalThread]), aligned_[kJournalFirstSequence],
                            aligned_[kJournalFirstAllocation], aligned_.get() + kJournalHeaderWords, used};
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

}  // namespace vramtrack
