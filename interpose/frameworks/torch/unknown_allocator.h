// SPDX-License-Identifier: Apache-2.0
#ifndef INTERPOSE_FRAMEWORKS_TORCH_UNKNOWN_ALLOCATOR_H_
#define INTERPOSE_FRAMEWORKS_TORCH_UNKNOWN_ALLOCATOR_H_

namespace vramtrack::torch {

// Records in the trace which of PyTorch's loaded allocator libraries do not report their blocks through a hooked
// function. These are most likely newer versions. Call it after libraries were loaded. Thread-safe; takes the loader's
// lock on its list of objects briefly.
void NoteUnknownAllocators();

}  // namespace vramtrack::torch

#endif  // INTERPOSE_FRAMEWORKS_TORCH_UNKNOWN_ALLOCATOR_H_
