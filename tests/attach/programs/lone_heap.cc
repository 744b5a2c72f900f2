// SPDX-License-Identifier: Apache-2.0
//
// One thread that is in malloc and free nearly all the time: there is no other to use.
#include <cstring>

#include "tests/attach/programs/joined.h"

int main() {
  Ready();
  unsigned seed = 1;
  while (!Ended()) {
    for (int i = 0; i < 20000; ++i) {
      seed = seed * 1664525u + 1013904223u;
      char* blocks[4];
      for (int k = 0; k < 4; ++k) {
        blocks[k] = static_cast<char*>(std::malloc(16 + (seed >> 8) % 2000));
        blocks[k][0] = static_cast<char>(k);
      }
      for (int k = 3; k >= 0; --k) {
        Check(blocks[k][0] == k, "a block has changed");
        std::free(blocks[k]);
      }
    }
  }
  return Fine();
}
