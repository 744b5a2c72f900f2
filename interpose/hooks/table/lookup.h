// SPDX-License-Identifier: Apache-2.0
//
// Functions that are not called by their symbol but looked up: by dlsym, by cuGetProcAddress, by
// cudaGetDriverEntryPoint. The real look-up is made first, whatever version and flags it asks for; the address that it
// gives says which hook stands for it.
#ifndef INTERPOSE_HOOKS_TABLE_LOOKUP_H_
#define INTERPOSE_HOOKS_TABLE_LOOKUP_H_

#include <atomic>

#include "interpose/hooks/table/real_entry.h"

namespace vramtrack {

// Each hook has three wrappers: one that calls go to by symbol, and two for functions that were looked up, so that two
// copies of a library are told apart.
constexpr int kBySymbol = 0;
constexpr int kLookedUpWays = 2;

// [entry][way], from the table of hooks.
extern void* const wrappers[kEntryCount][1 + kLookedUpWays];

// What the wrappers of looked-up functions call.
extern std::atomic<void*> looked_up[kLookedUpWays][kEntryCount];

// The wrapper to give instead of `found`, the address of a function named `name` in some library of CUDA; `found`
// itself where there is no hook for it. Thread-safe. Allocates nothing; a library seen for the first time costs some 50
// us.
void* WrapperFor(void* found, const char* name);

// Around every unloading of a library.
void LookedUpLibrariesChanged();

// glibc's own dlsym, whoever else has put one before it.
using DlsymFunction = void* (*)(void*, const char*);
DlsymFunction RealDlsym();

}  // namespace vramtrack

#endif  // INTERPOSE_HOOKS_TABLE_LOOKUP_H_
