// SPDX-License-Identifier: Apache-2.0
//
// Other tools' calls of CUPTI, which serves one at a time: libvramtrack_cupti.so must know of them before they happen.
// Where CUPTI was asked for they are watched from the start of the program, and otherwise once somebody listens: in
// libraries that call libcupti by their imports, and in those that look its functions up with dlsym.
#ifndef INTERPOSE_HOOKS_ENTRY_CUPTI_CALLS_H_
#define INTERPOSE_HOOKS_ENTRY_CUPTI_CALLS_H_

#include <cstdint>

namespace vramtrack {

// `listener(call, argument)`, with a VramtrackCuptiCall, before each call from now on, in its thread; and once for each
// that still holds from before. One listener for good.
void ListenToCuptiCalls(void (*listener)(uint32_t call, uint64_t argument));

// Watches the imports of libraries that were loaded since it was last called, if there are any. Takes the loader's
// short lock for its list.
void WatchNewCuptiCalls();

// For dlsym: what to answer for `found`, the function of this name, or null where that may be told as it is.
void* CuptiWrapperFor(const char* name, void* found);

// Whether calls are watched.
bool AreCuptiCallsWatched();

}  // namespace vramtrack

#endif  // INTERPOSE_HOOKS_ENTRY_CUPTI_CALLS_H_
