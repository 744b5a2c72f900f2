/* SPDX-License-Identifier: Apache-2.0
 *
 * exceptions_in_c_program LIBRARY: the program is C and knows nothing of C++; a library that it loads throws and
 * catches, through this program's own frames too.
 */
#include <dlfcn.h>
#include <stdio.h>

#include "tests/hazards/programs/device.h"

static void (*throw_from)(int);

/* Compiled so that exceptions pass. */
__attribute__((noinline)) static void Between(int depth) {
  Pairs(1);
  throw_from(depth);
  fflush(stdout);
}

int main(int argc, char** argv) {
  (void)argc;
  Pairs(1);
  void* library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) {
    puts(dlerror());
    return 1;
  }
  void (*catch_from)(void (*)(int), int) = (void (*)(void (*)(int), int))dlsym(library, "catch_from");
  throw_from = (void (*)(int))dlsym(library, "throw_from");
  for (int depth = 0; depth < 50; ++depth) catch_from(Between, depth);
  ((void (*)(void))dlsym(library, "say_who_unwinds"))();
  return 0;
}
