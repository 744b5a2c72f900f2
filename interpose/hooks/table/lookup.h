// SPDX-License-Identifier: Apache-2.0
//
// Functions that a program looks up instead of calling them by their symbol: with dlsym, cuGetProcAddress or
// cudaGetDriverEntryPoint. The real look-up runs first, with the version and flags that the program asked for. The hook
// is then chosen by the resulting address.
#ifndef INTERPOSE_HOOKS_TABLE_LOOKUP_H_
#define INTERPOSE_HOOKS_TABLE_LOOKUP_H_

#include <atomic>

#include "interpose/hooks/table/real_entry.h"

namespace vramtrack {

// Each hook has three wrappers: one for calls by symbol, and two for looked-up functions, so that two copies of a
// library are distinguished.
constexpr int kBySymbol = 0;
constexpr int kLookedUpWays = 2;

// All wrappers, as [entry][way], from the table of hooks.
extern void* const wrappers[kEntryCount][1 + kLookedUpWays];

// The real functions that the wrappers of looked-up functions call.
extern std::atomic<void*> looked_up[kLookedUpWays][kEntryCount];

// Returns the wrapper that replaces `found`, the address of a function named `name` in a library of CUDA; returns
// `found` itself if there is no hook for it. Thread-safe. Allocates no memory; the first function of a library takes
// about 50 us.
void* WrapperFor(void* found, const char* name);

// Forgets looked-up functions whose library has been unloaded. Call it after a library may have been unloaded.
void LookedUpLibrariesChanged();

// Returns the dlsym of glibc, even if another library interposes it.
using DlsymFunction = void* (*)(void*, const char*);
DlsymFunction RealDlsym();

}  // namespace vramtrack

#endif  // INTERPOSE_HOOKS_TABLE_LOOKUP_H_
