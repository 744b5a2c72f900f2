/* SPDX-License-Identifier: Apache-2.0
 *
 * The functions with which a program annotates its trace. The program links no library for them: without vramtrack
 * the symbols are absent and VRAMTRACK_STEP does nothing.
 */
#ifndef VRAMTRACK_VRAMTRACK_H_
#define VRAMTRACK_VRAMTRACK_H_

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Marks the end of a training or serving step; vramtrack reports rates per step. `number` is the program's own step
 * number. `value` is the quantity that best explains the memory of the step, such as its number of tokens (0 if there
 * is none). Thread-safe, but not signal-safe. A call takes well below a microsecond. Calls before the first CUDA call
 * of the process are kept in memory, the first 512 and the last 512 of each thread. A process that never calls CUDA
 * writes no trace. */
__attribute__((weak)) void vramtrack_step(uint64_t number, double value);

/* Asks for a walk through the Python objects of this process, which finds by which names each block of memory is held.
 * The walk is made when the main thread next runs Python code. Returns 1, or 0 if no walk will be made:
 * VRAMTRACK_HOLDERS is not set, PyTorch has allocated no memory on a device yet, or the process has no Python
 * interpreter that vramtrack knows. Thread-safe, but not signal-safe. */
__attribute__((weak)) int vramtrack_holders(void);

#ifdef __cplusplus
}
#endif

#define VRAMTRACK_STEP(number, value)                      \
  do {                                                     \
    if (vramtrack_step) vramtrack_step((number), (value)); \
  } while (0)

#endif /* VRAMTRACK_VRAMTRACK_H_ */
