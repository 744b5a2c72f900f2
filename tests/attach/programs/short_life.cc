// SPDX-License-Identifier: Apache-2.0
//
// usage: short_life MICROSECONDS [PROGRAM]. Ends after a while by itself, or becomes PROGRAM.
#include "tests/attach/programs/joined.h"

int main(int count, char** arguments) {
  Ready();
  usleep(static_cast<useconds_t>(std::atol(arguments[1])));
  if (count > 2) {
    execl(arguments[2], arguments[2], nullptr);
    Wrong("execl");
  }
  return Fine();
}
