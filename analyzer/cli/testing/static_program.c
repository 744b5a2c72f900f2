// SPDX-License-Identifier: Apache-2.0
//
// Linked statically: `run` cannot trace it and says so.
#include <stdio.h>

int main(void) {
  puts("ran");
  return 5;
}
