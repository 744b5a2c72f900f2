// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_INGEST_UNSEEN_TEXT_H_
#define ANALYZER_INGEST_UNSEEN_TEXT_H_

#include <cstdint>

namespace vramtrack {

// Returns why calls of a library or function may be missing from a trace, as the rest of a sentence that begins with
// its name. The text is static. `reason`: a schema::UnseenReason.
const char* UnseenText(uint32_t reason);

}  // namespace vramtrack

#endif  // ANALYZER_INGEST_UNSEEN_TEXT_H_
