// SPDX-License-Identifier: Apache-2.0
#ifndef INTERPOSE_BASE_MESSAGE_H_
#define INTERPOSE_BASE_MESSAGE_H_

namespace vramtrack {

// One line on stderr, beginning with "vramtrack: ". At most two a process: what comes after is dropped. Thread-safe.
void Say(const char* format, ...) __attribute__((format(printf, 1, 2)));

}  // namespace vramtrack

#endif  // INTERPOSE_BASE_MESSAGE_H_
