// SPDX-License-Identifier: Apache-2.0
//
// The code that runs in the process that is joined. It is copied there, and what it needs follows in a block.
#ifndef ANALYZER_ATTACH_INJECTED_CODE_H_
#define ANALYZER_ATTACH_INJECTED_CODE_H_

#if defined(__x86_64__)

#include <cstddef>
#include <cstdint>
#include <vector>

namespace vramtrack {

// In the memory of the other process. The code knows the offsets.
struct InjectedBlock {
  enum State : uint64_t { kRunning = 0, kDone = 1 };
  static constexpr uint64_t kNotMade = ~uint64_t{0};
  enum Failure : uint64_t { kNone = 0, kNotLoaded = 1, kNoFunction = 2 };

  // Functions of the C library. `error_text` may be 0.
  uint64_t make_thread, load, look_up, error_text, self, detach, sleep, unmap;
  uint64_t thread;          // set by make_thread
  uint64_t make_result;     // of make_thread: an errno value; kNotMade before
  uint64_t state, failure;  // set by the new thread
  int64_t result;           // of the function `name`
  uint64_t acknowledged;    // set from outside: the results have been read
  uint64_t begin, bytes;    // this memory, which is unmapped at the end
  uint64_t error;           // address of a text
  uint64_t path, flags;     // of the library
  uint64_t name, options, message, message_bytes;
  uint64_t patience;             // how many milliseconds to wait for `acknowledged`
  uint64_t vectors;              // 64-byte aligned memory for what XSAVE saves
  int64_t seconds, nanoseconds;  // how long the interrupted thread waits to be stopped
  uint64_t left;                 // set by it: it goes back by itself
  uint64_t way_back;             // StoppedThread::way_back()
};

struct InjectedCode {
  std::vector<uint8_t> bytes;
  // Where to start, with the address of the block in rbx. It sets make_result, and then waits until it is stopped. If
  // nobody stops it, it sets `left`, and goes back to where the thread was.
  size_t start;
};

InjectedCode TheInjectedCode();

}  // namespace vramtrack

#endif  // defined(__x86_64__)

#endif  // ANALYZER_ATTACH_INJECTED_CODE_H_
