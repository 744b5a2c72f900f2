/* SPDX-License-Identifier: Apache-2.0
 *
 * The functions with which a program annotates its trace. The program links no library for them: without vramtrack
 * the symbols are absent and VRAMTRACK_STEP does nothing.
 */
#ifndef VRAMTRACK_VRAMTRACK_H_
#define VRAMTRACK_VRAMTRACK_H_

#include <stddef.h>
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

/* Begins to record this process, or goes on after vramtrack_stop, in a new trace. `options` are lines NAME=VALUE with
 * the variables of the environment that set options (VRAMTRACK_OUTPUT and others, see docs/run.md); they override the
 * environment. If there are none, those of the last call stay. What was allocated before is unknown to the trace.
 * Writes the path of the trace, or one line that says why nothing is recorded, to `message`, which holds `capacity`
 * bytes, at least 1. Thread-safe, but not signal-safe. Call it from a thread that holds no lock that a hooked call
 * needs. */
enum {
  VRAMTRACK_STARTED = 0,
  VRAMTRACK_ALREADY_RECORDING = 1,
  VRAMTRACK_NOT_POSSIBLE = 2,
  VRAMTRACK_STARTED_WITHOUT_CALLERS = 3 /* no loaded library calls CUDA through a symbol yet */
};
__attribute__((weak)) int vramtrack_start(const char* options, char* message, size_t capacity);

/* Stops recording this process and completes its trace. Returns 1, or 0 if nothing was recorded. Thread-safe, but not
 * signal-safe. */
__attribute__((weak)) int vramtrack_stop(void);

#ifdef __cplusplus
}
#endif

#define VRAMTRACK_STEP(number, value)                      \
  do {                                                     \
    if (vramtrack_step) vramtrack_step((number), (value)); \
  } while (0)

#endif /* VRAMTRACK_VRAMTRACK_H_ */
