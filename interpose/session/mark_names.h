// SPDX-License-Identifier: Apache-2.0
#ifndef INTERPOSE_SESSION_MARK_NAMES_H_
#define INTERPOSE_SESSION_MARK_NAMES_H_

#include <cstddef>
#include <cstdint>

#include "interpose/recorder/event_writer.h"
#include "interpose/session/session.h"

namespace vramtrack {

// A text whose numbers are replaced: "epoch 3 step 17" becomes "epoch # step #" with the number 17. Only the first 200
// bytes of the text are used.
class PlainName {
 public:
  static constexpr size_t kMaxBytes = 200;

  // With `coarse`, every word that contains a digit becomes "#", so that "job-3fa2" and "job-b71c" have the same name.
  explicit PlainName(const char* text, bool coarse = false);

  const char* text() const { return text_; }  // not zero-terminated
  size_t length() const { return length_; }
  // Returns the last number in the text: 0 if there is none, UINT64_MAX if it is too large.
  uint64_t number() const { return number_; }
  uint64_t Hash() const;  // never 0

 private:
  char text_[kMaxBytes];
  size_t length_ = 0;
  uint64_t number_ = 0;
};

struct MarkName {
  uint32_t id = 0;      // of the trace's Name; 0 for none
  uint64_t number = 0;  // see PlainName
};

// Returns the Name of a text in an NVTX domain, and defines it in the trace if it is new. `domain` is a text from
// KeptText, or null for the default domain. Thread-safe, lock-free. A job has few names, because numbers are removed.
// After 4,096 names, new ones are made coarse; after 16,384, new texts have no name.
MarkName NameOf(const char* text, const char* domain, Session* session, EventWriter* writer);

// Returns the Name of the domain itself; 0 for the default domain.
uint32_t DomainName(const char* domain, Session* session, EventWriter* writer);

// Returns a permanent copy of the first 200 bytes of `text`, the same copy for the same text. Returns null if the space
// for copies (1 MiB in total) is full. Thread-safe.
const char* KeptText(const char* text);

}  // namespace vramtrack

#endif  // INTERPOSE_SESSION_MARK_NAMES_H_
