// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_INGEST_JOURNAL_COPY_H_
#define ANALYZER_INGEST_JOURNAL_COPY_H_

#include <map>
#include <string>
#include <string_view>

namespace vramtrack {

// Journals by their offset in the file, each with its header words and the records that were committed.
using JournalCopies = std::map<uint64_t, std::string>;

// Copies the journals of a mapped trace whose process may be writing to them. Each is as it was at one moment. Whoever
// reads blocks afterwards finds everything that the process recorded before, some of it twice.
JournalCopies CopyJournals(std::string_view file);

}  // namespace vramtrack

#endif  // ANALYZER_INGEST_JOURNAL_COPY_H_
