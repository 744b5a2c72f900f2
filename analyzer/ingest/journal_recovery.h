// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_INGEST_JOURNAL_RECOVERY_H_
#define ANALYZER_INGEST_JOURNAL_RECOVERY_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "proto/block_encoder.h"

namespace vramtrack {

// Makes blocks from the journals of a killed process. Thread-compatible.
class JournalRecovery {
 public:
  JournalRecovery();
  ~JournalRecovery();

  // The payload of the block that `words` (the words of a Journal in the file) would have become; empty if it records
  // nothing. If something could not be used, sets `*lost_bytes` and `*why`.
  std::string Recover(std::string_view words, uint64_t* lost_bytes, std::string* why);

 private:
  std::unique_ptr<BlockEncoder> encoder_;
  std::unique_ptr<uint64_t[]> aligned_;
};

// Journals by their offset in the file, each with its header words and the records that were committed.
using JournalCopies = std::map<uint64_t, std::string>;

// Copies the journals of a mapped trace while its process may be writing to them. Each copy is consistent. Blocks that
// are read afterwards hold everything that the process recorded before the copy, some of it twice.
JournalCopies CopyJournals(std::string_view file);

}  // namespace vramtrack

#endif  // ANALYZER_INGEST_JOURNAL_RECOVERY_H_
