// SPDX-License-Identifier: Apache-2.0
//
// Built twice with another FRAME_BYTES: the same addresses of code, another frame.
extern "C" __attribute__((noinline, visibility("default"))) void CallThroughPlugin(void (*function)(int), int depth) {
  volatile char bytes[FRAME_BYTES];
  bytes[0] = 1;
  asm volatile(".p2align 6,,63");  // the call is at one place however long the code before it is
  function(depth);
  bytes[1] = bytes[0];
}
