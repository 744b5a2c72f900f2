// SPDX-License-Identifier: Apache-2.0
#include "vramtrack/vramtrack.h"

int main() {
  VRAMTRACK_STEP(1, 0);
  return 0;
}
