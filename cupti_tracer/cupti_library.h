// SPDX-License-Identifier: Apache-2.0
#ifndef CUPTI_TRACER_CUPTI_LIBRARY_H_
#define CUPTI_TRACER_CUPTI_LIBRARY_H_

#include "cupti_tracer/cupti_abi.h"

namespace vramtrack::cupti {

// The functions of a loaded CUPTI. A function that this release does not have is null.
struct Library {
#define VRAMTRACK_CUPTI(name, needed, parameters) int(*name) parameters = nullptr;
#include "cupti_tracer/cupti_functions.inc"
  uint32_t version = 0;  // from cuptiGetVersion

  // Returns whether memory records name the library that called the memory function.
  bool has_source() const { return cuptiActivityEnableAllocationSource != nullptr; }
  // Returns CUPTI's text for a result, which is never null.
  const char* Text(int result) const;
};

// A function with the contract of dlsym.
using LookUp = void* (*)(void* library, const char* name);

// Finds a CUPTI and starts it with `start`. Uses the one that the program has loaded already, or else the newest one
// that the driver supports. Searches with the loader, then next to the CUDA runtime and in the toolkit (CUDA_HOME, or
// /usr/local/cuda). If the result of `start` means that the driver is too old (IsTooNew), tries an older one. Sets
// `*result` to the last result of `start`, or to success if no CUPTI was found. Returns false if none could be started;
// `*defect` then describes a CUPTI that was found but cannot be used, or is null. Loads libraries, so it must not be
// called from a hook.
bool FindLibrary(LookUp look_up, int (*start)(const Library& library), Library* library, int* result,
                 const char** defect);

// Returns the address of a function in the libcupti that the program has loaded already, or null if there is none.
const void* LoadedLibrary(LookUp look_up);

// Returns whether a result means that the library is newer than the driver.
bool IsTooNew(int result);

}  // namespace vramtrack::cupti

#endif  // CUPTI_TRACER_CUPTI_LIBRARY_H_
