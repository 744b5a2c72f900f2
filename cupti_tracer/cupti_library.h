// SPDX-License-Identifier: Apache-2.0
#ifndef CUPTI_TRACER_CUPTI_LIBRARY_H_
#define CUPTI_TRACER_CUPTI_LIBRARY_H_

#include "cupti_tracer/cupti_abi.h"

namespace vramtrack::cupti {

struct Library {
#define VRAMTRACK_CUPTI(name, needed, parameters) int(*name) parameters = nullptr;
#include "cupti_tracer/cupti_functions.inc"
  uint32_t version = 0;  // of cuptiGetVersion

  // Memory records end with the library that asked.
  bool has_source() const { return cuptiActivityEnableAllocationSource != nullptr; }
  // What CUPTI calls a result.
  const char* Text(int result) const;
};

// As dlsym.
using LookUp = void* (*)(void* library, const char* name);

// The CUPTI that the program has loaded already, or else the newest one that the driver can serve: by the loader's
// search, beside the CUDA runtime, or in the toolkit (CUDA_HOME, else /usr/local/cuda). `start` begins to use it; where
// it says that the driver is too old after all (IsTooNew), an older one is looked for. `result`: what `start` has said
// last, success where there was none to ask. False where none starts; `defect` says what is wrong with one that is
// there and cannot be used, null for none. Loads libraries: not to be called from a hook.
bool FindLibrary(LookUp look_up, int (*start)(const Library& library), Library* library, int* result,
                 const char** defect);

// A function of the libcupti that the program has loaded already, or null.
const void* LoadedLibrary(LookUp look_up);

// Whether a result means that the library is newer than the driver.
bool IsTooNew(int result);

}  // namespace vramtrack::cupti

#endif  // CUPTI_TRACER_CUPTI_LIBRARY_H_
