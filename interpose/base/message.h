// SPDX-License-Identifier: Apache-2.0
#ifndef INTERPOSE_BASE_MESSAGE_H_
#define INTERPOSE_BASE_MESSAGE_H_

namespace vramtrack {

// Prints one line to stderr that begins with "vramtrack: ". A process prints at most two lines; later ones are dropped.
// Thread-safe.
void Say(const char* format, ...) __attribute__((format(printf, 1, 2)));

// While an object of this class exists, lines of Say from the thread that made it are stored in a buffer instead of
// being printed. They do not begin with "vramtrack: " there. One object of a thread at a time.
class CapturedMessages {
 public:
  // `line` holds `capacity` bytes, at least 1; it is empty if nothing was said, and has the last line otherwise.
  CapturedMessages(char* line, unsigned long capacity);
  ~CapturedMessages();
  CapturedMessages(const CapturedMessages&) = delete;
  CapturedMessages& operator=(const CapturedMessages&) = delete;
};

}  // namespace vramtrack

#endif  // INTERPOSE_BASE_MESSAGE_H_
