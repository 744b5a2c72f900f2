// SPDX-License-Identifier: Apache-2.0
//
// A library that allocates when it is told to, and when it is loaded and unloaded.
#include "tests/hazards/programs/device.h"

namespace {

struct Lifetime {
  void* pointer = Take(LIBRARY_BYTES);
  ~Lifetime() { Give(pointer); }
} lifetime;

}  // namespace

extern "C" void allocate() {
  Pairs(2);
  asm volatile("");
}
