// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_INGEST_JOURNAL_RECOVERY_H_
#define ANALYZER_INGEST_JOURNAL_RECOVERY_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "proto/block_encoder.h"

namespace vramtrack {

struct JournalHeader {
  uint32_t thread;
  uint64_t committed;       // words of records
  uint64_t first_sequence;  // of the first event in it; of the next one where it is empty
};

// None if it makes no sense. `words` are those of a Journal in the file.
std::optional<JournalHeader> ReadJournalHeader(std::string_view words);

// Converts the journals of a killed process to blocks. Thread-compatible.
class JournalRecovery {
 public:
  JournalRecovery();
  ~JournalRecovery();

  // Returns the payload of the block that the process would have written from `words`, the words of a Journal in the
  // file; empty if they record nothing. If a part could not be used, sets `*lost_bytes` and `*why`.
  std::string Recover(std::string_view words, uint64_t* lost_bytes, std::string* why);

 private:
  std::unique_ptr<BlockEncoder> encoder_;
  std::unique_ptr<uint64_t[]> aligned_;
};

// Maps file offsets to journals. A journal consists of its header words and the committed records.
using JournalCopies = std::map<uint64_t, std::string>;

// Copies the journals of a mapped trace while its process may be writing to them. Each copy is consistent. The copies
// and the blocks that are read afterwards together hold everything that was recorded before the copy, some of it twice.
JournalCopies CopyJournals(std::string_view file);

}  // namespace vramtrack

#endif  // ANALYZER_INGEST_JOURNAL_RECOVERY_H_
