// SPDX-License-Identifier: Apache-2.0
#ifndef INTERPOSE_BASE_MESSAGE_H_
#define INTERPOSE_BASE_MESSAGE_H_

namespace vramtrack {

// Prints one line to stderr that begins with "vramtrack: ". A process prints at most two lines; later ones are dropped.
// Thread-safe.
void Say(const char* format, ...) __attribute__((format(printf, 1, 2)));

}  // namespace vramtrack

#endif  // INTERPOSE_BASE_MESSAGE_H_
