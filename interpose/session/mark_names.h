// SPDX-License-Identifier: Apache-2.0
#ifndef INTERPOSE_SESSION_MARK_NAMES_H_
#define INTERPOSE_SESSION_MARK_NAMES_H_

#include <cstddef>
#include <cstdint>

#include "interpose/recorder/lane.h"
#include "interpose/session/session.h"

namespace vramtrack {

// A text without its numbers: "epoch 3 step 17" is "epoch # step #" and the number 17. Of a longer text the first 200
// bytes count.
class PlainName {
 public:
  static constexpr size_t kMaxBytes = 200;

  // `coarse`: every word with a digit in it becomes "#", which makes one name of "job-3fa2" and "job-b71c".
  explicit PlainName(const char* text, bool coarse = false);

  const char* text() const { return text_; }  // no zero at its end
  size_t length() const { return length_; }
  // The last number in the text, 0 for none; UINT64_MAX for one that is too large.
  uint64_t number() const { return number_; }
  uint64_t Hash() const;  // never 0

 private:
  char text_[kMaxBytes];
  size_t length_ = 0;
  uint64_t number_ = 0;
};

struct MarkName {
  uint32_t id = 0;      // of the trace's Name, 0 for none
  uint64_t number = 0;  // see PlainName
};

// The trace's Name of a text in an NVTX domain, which is defined first where it is new. `domain`: a text from KeptText,
// null for the default domain. Thread-safe, no lock. A job has few names, since they have no numbers; should there be
// more than 4,096, those that are new are made coarse, and beyond 16,384 they have none.
MarkName NameOf(const char* text, const char* domain, Session* session, Lane* lane);

// The Name of the domain itself, 0 for the default one.
uint32_t DomainName(const char* domain, Session* session, Lane* lane);

// A copy that stays for good, the same one for the same text; null where there is no more room (1 MiB for all). Of a
// longer text the first 200 bytes. Thread-safe.
const char* KeptText(const char* text);

}  // namespace vramtrack

#endif  // INTERPOSE_SESSION_MARK_NAMES_H_
