/* SPDX-License-Identifier: Apache-2.0
 *
 * What a program may tell vramtrack. Nothing here needs linking: where the program is not traced, the symbols are
 * absent and VRAMTRACK_STEP does nothing.
 */
#ifndef VRAMTRACK_VRAMTRACK_H_
#define VRAMTRACK_VRAMTRACK_H_

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Marks the end of a training or serving step: rates are reported per step. `number` is the program's own step number;
 * `value` is whatever explains the step's memory best, such as its tokens (0 if nothing does). Any thread may call it;
 * not from a signal handler. Costs well below a microsecond. Calls before the process's first CUDA call are kept in
 * memory, the first 512 and the last 512 of each thread; a process that never makes one writes nothing. */
__attribute__((weak)) void vramtrack_step(uint64_t number, double value);

#ifdef __cplusplus
}
#endif

#define VRAMTRACK_STEP(number, value)                      \
  do {                                                     \
    if (vramtrack_step) vramtrack_step((number), (value)); \
  } while (0)

#endif /* VRAMTRACK_VRAMTRACK_H_ */
