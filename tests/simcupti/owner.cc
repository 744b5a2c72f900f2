// SPDX-License-Identifier: Apache-2.0
#include "tests/simcupti/owner.h"

#include <dlfcn.h>
#include <execinfo.h>

#include <cstring>

namespace vramtrack::simcupti {

const char* OwnerOfCall() {
  constexpr int kMostFrames = 24;
  constexpr const char* kPassedOver[] = {"libcuda.so", "libcudart.so", "libcupti.so", "libvramtrack"};
  void* frames[kMostFrames];
  const int count = backtrace(frames, kMostFrames);
  for (int i = 0; i < count; ++i) {
    Dl_info info;
    if (dladdr(frames[i], &info) == 0) continue;
    const char* slash = strrchr(info.dli_fname, '/');
    const char* name = slash != nullptr ? slash + 1 : info.dli_fname;
    bool passed_over = false;
    for (const char* beginning : kPassedOver) passed_over |= strncmp(name, beginning, strlen(beginning)) == 0;
    if (!passed_over) return info.dli_fname;
  }
  return nullptr;
}

}  // namespace vramtrack::simcupti
