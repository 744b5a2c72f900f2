// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_SIMCUDA_DRIVER_CAPTURE_H_
#define TESTS_SIMCUDA_DRIVER_CAPTURE_H_

#include <cuda.h>

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "tests/simcuda/device/stream.h"
#include "tests/simcuda/driver/current.h"
#include "tests/simcuda/driver/graph.h"

namespace vramtrack::simcuda {

// A capture makes a graph from the work that is submitted to a stream, and to the streams that join it through events.
struct Capture {
  unsigned long long id = 0;
  Stream* origin = nullptr;
  Graph* graph = nullptr;
  CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
  unsigned long thread = 0;  // thread that began it
  bool to_existing_graph = false;

  std::mutex mutex;
  bool invalidated = false;
  // The nodes on which the next node of a stream depends, and those that a recorded event waits for.
  std::map<Stream*, std::vector<GraphNode*>> frontier;
  std::map<Event*, std::vector<GraphNode*>> recorded;
};

CUresult BeginCapture(Stream* stream, Graph* graph, const std::vector<GraphNode*>& dependencies,
                      CUstreamCaptureMode mode);
CUresult EndCapture(Stream* stream, Graph** graph);

// Appends a node to the graph that is captured from `stream`. `added` may be nullptr.
CUresult CaptureNode(Stream* stream, CUgraphNodeType type, std::function<CUresult()> action,
                     GraphNode** added = nullptr);

// Capture the record of an event, and the wait for an event that was recorded in a capture.
CUresult CaptureRecord(Stream* stream, Event* event);
CUresult CaptureWait(Stream* stream, Event* event);

// Invalidates the capture: later calls on its streams fail.
void InvalidateCapture(Stream* stream);

// Runs `work`, which returns whether it succeeded, on `stream`. If the stream is being captured, adds `work` to the
// graph as a node instead.
template <typename Work>
CUresult Submit(CUstream stream, CUgraphNodeType type, Work work) {
  Stream* resolved;
  SIMCUDA_TRY(CurrentStream(stream, &resolved));
  if (__builtin_expect(resolved->IsCapturing(), 0)) {
    return CaptureNode(resolved, type, [work] { return work() ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE; });
  }
  return work() ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

}  // namespace vramtrack::simcuda

#endif  // TESTS_SIMCUDA_DRIVER_CAPTURE_H_
