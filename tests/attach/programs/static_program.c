/* SPDX-License-Identifier: Apache-2.0
 *
 * A program into which no library can be loaded. */
#include <stdio.h>

int main(void) {
  printf("ready\n");
  fflush(stdout);
  while (getchar() != EOF) {
  }
  printf("fine\n");
  return 0;
}
