// SPDX-License-Identifier: Apache-2.0
#include "analyzer/ingest/journal_copy.h"

#include <algorithm>
#include <cstring>

#include "analyzer/ingest/mapped_file.h"
#include "proto/frame_scanner.h"
#include "proto/journal.h"

namespace vramtrack {
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
