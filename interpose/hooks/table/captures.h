// SPDX-License-Identifier: Apache-2.0
//
// Captures of streams into graphs. What a framework allocates while it captures goes into a pool of the graph's own,
// which is kept as long as the graph is: so a segment has the number of its capture, and so has the graph that comes of
// it. PyTorch's allocator asks before each segment whether its stream is capturing (CUDACachingAllocator.cpp,
// cudaMallocMaybeCapturing), so the answer that CUDA gave this thread last tells.
#ifndef INTERPOSE_HOOKS_TABLE_CAPTURES_H_
#define INTERPOSE_HOOKS_TABLE_CAPTURES_H_

#include <cstdint>

namespace vramtrack {

// All of them thread-safe, without locks, and without effect where a table has no more room.

// CUDA has told the calling thread whether `stream` is capturing (cudaStreamCaptureStatus), and the number of the
// capture where it was asked for that; may be null, and is valid only while the stream is capturing.
void NoteCaptureStatus(const void* stream, const int* status, const unsigned long long* number);

// The number of the capture that the calling thread's next segment is for, 0 for none.
uint64_t CaptureOfNextSegment();

// The capture of `stream` has ended and `graph` has come of it. Returns the number of the capture, 0 if not known.
uint64_t EndCapture(const void* stream, uint64_t graph);

// The number of the capture that a graph has come from, 0 if not known; and the end of the graph.
uint64_t CaptureOfGraph(const void* graph);
void ForgetGraph(uint64_t graph);

}  // namespace vramtrack

#endif  // INTERPOSE_HOOKS_TABLE_CAPTURES_H_
