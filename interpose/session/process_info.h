// SPDX-License-Identifier: Apache-2.0
#ifndef INTERPOSE_SESSION_PROCESS_INFO_H_
#define INTERPOSE_SESSION_PROCESS_INFO_H_

#include "interpose/recorder/lane.h"

namespace vramtrack {

// Defines the process in `lane`: what it is, and the part of its environment that explains its memory. Uses `buffer`.
void DefineProcess(Lane* lane, uint8_t* buffer, size_t capacity);

// Defines the calling thread.
void DefineThread(Lane* lane);

}  // namespace vramtrack

#endif  // INTERPOSE_SESSION_PROCESS_INFO_H_
