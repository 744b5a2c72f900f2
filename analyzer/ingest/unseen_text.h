// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_INGEST_UNSEEN_TEXT_H_
#define ANALYZER_INGEST_UNSEEN_TEXT_H_

#include <cstdint>

namespace vramtrack {

// Why calls of a library or function may be missing in a trace: the rest of a sentence that begins with its name.
const char* UnseenText(uint32_t reason);

}  // namespace vramtrack

#endif  // ANALYZER_INGEST_UNSEEN_TEXT_H_
