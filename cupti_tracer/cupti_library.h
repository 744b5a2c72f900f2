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

// The CUPTI that the program has loaded already, or else the newest one that the driver can serve: by the loader's
// search, beside the CUDA runtime, or in the toolkit's place. False where there is none. Loads libraries: not to be
// called from a hook.
bool FindLibrary(Library* library);

}  // namespace vramtrack::cupti

#endif  // CUPTI_TRACER_CUPTI_LIBRARY_H_
