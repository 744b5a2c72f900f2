// SPDX-License-Identifier: Apache-2.0
#ifndef INTERPOSE_FRAMEWORKS_TORCH_UNKNOWN_ALLOCATOR_H_
#define INTERPOSE_FRAMEWORKS_TORCH_UNKNOWN_ALLOCATOR_H_

namespace vramtrack::torch {

// Says in the trace which of PyTorch's loaded allocator libraries do not tell of their blocks through a function that
// is hooked: newer ones, most likely. To be called when libraries have been loaded. Thread-safe, takes the loader's
// short lock for its list.
void NoteUnknownAllocators();

}  // namespace vramtrack::torch

#endif  // INTERPOSE_FRAMEWORKS_TORCH_UNKNOWN_ALLOCATOR_H_
