// SPDX-License-Identifier: Apache-2.0
//
// Captures of streams into graphs. Memory that a framework allocates during a capture comes from a private pool, which
// exists as long as the graph. The trace therefore gives a segment the number of its capture, and the same number to
// the resulting graph. PyTorch's allocator asks before each segment whether its stream is capturing
// (CUDACachingAllocator.cpp, cudaMallocMaybeCapturing), so CUDA's last answer to this thread identifies the capture.
#ifndef INTERPOSE_HOOKS_TABLE_CAPTURES_H_
#define INTERPOSE_HOOKS_TABLE_CAPTURES_H_

#include <cstdint>

namespace vramtrack {

// All functions are thread-safe and lock-free. They do nothing if a table is full.

// Notes the answer of CUDA to the calling thread about `stream`: its status (cudaStreamCaptureStatus), and the number
// of the capture if the thread asked for it, else null. The number is valid only while the stream is capturing.
void NoteCaptureStatus(const void* stream, const int* status, const unsigned long long* number);

// Returns the number of the capture to which the calling thread's next segment belongs, 0 for none.
uint64_t CaptureOfNextSegment();

// Notes that the capture of `stream` has ended and produced `graph`. Returns the number of the capture, 0 if unknown.
uint64_t EndCapture(const void* stream, uint64_t graph);

// CaptureOfGraph returns the number of the capture that produced a graph, 0 if unknown. ForgetGraph is for the end of
// the graph.
uint64_t CaptureOfGraph(const void* graph);
void ForgetGraph(uint64_t graph);

}  // namespace vramtrack

#endif  // INTERPOSE_HOOKS_TABLE_CAPTURES_H_
