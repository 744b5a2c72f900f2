/* SPDX-License-Identifier: Apache-2.0
 *
 * A stand-in for the tracer's function, which answers what the environment says. */
#include <stdlib.h>

int vramtrack_holders(void) {
  const char* answer = getenv("FAKE_HOLDERS");
  return answer != NULL ? atoi(answer) : 0;
}
