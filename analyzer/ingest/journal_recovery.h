// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_INGEST_JOURNAL_RECOVERY_H_
#define ANALYZER_INGEST_JOURNAL_RECOVERY_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "proto/block_encoder.h"

namespace vramtrack {

// Makes blocks of the journals that a killed process left behind. Thread-compatible.
class JournalRecovery {
 public:
  JournalRecovery();
  ~JournalRecovery();

  // The payload of the block that `words` (a Journal's words as they lie in the file) would have become; empty if it
  // records nothing. What could not be used is told in `*lost_bytes` and `*why`, which are left alone otherwise.
  std::string Recover(std::string_view words, uint64_t* lost_bytes, std::string* why);

 private:
  std::unique_ptr<BlockEncoder> encoder_;
  std::unique_ptr<uint64_t[]> aligned_;
};

}  // namespace vramtrack

#endif  // ANALYZER_INGEST_JOURNAL_RECOVERY_H_
