// SPDX-License-Identifier: Apache-2.0
//
// Records the arrays of XLA's clients, such as JAX. Their allocator is hidden in the plugin for CUDA, so the calls that
// make and end arrays are hooked: they go through the table that the plugin's GetPjrtApi returns.
#ifndef INTERPOSE_FRAMEWORKS_XLA_PJRT_HOOKS_H_
#define INTERPOSE_FRAMEWORKS_XLA_PJRT_HOOKS_H_

namespace vramtrack {

constexpr char kGetPjrtApi[] = "GetPjrtApi";

// Returns what dlsym is to give to the program for the function GetPjrtApi of a plugin: a function whose table calls
// the hooks, or `real` itself if the plugin is not for CUDA, or after the fourth plugin. Thread-safe.
void* PjrtApiFor(void* real);

}  // namespace vramtrack

#endif  // INTERPOSE_FRAMEWORKS_XLA_PJRT_HOOKS_H_
