// SPDX-License-Identifier: Apache-2.0
// Graphs made of what is submitted to streams.
#include <cuda.h>

#include <algorithm>
#include <memory>
#include <mutex>
#include <vector>

#include "tests/simcuda/driver/capture.h"
#include "tests/simcuda/driver/current.h"
#include "tests/simcuda/driver/graph.h"

namespace vramtrack::simcuda {
namespace {

CUresult CaptureInfo(CUstream handle, CUstreamCaptureStatus* status, cuuint64_t* id, CUgraph* graph,
                     const CUgraphNode** dependencies, size_t* count) {
  Stream* stream;
  SIMCUDA_TRY(CurrentStream(handle, &stream));
  if (status == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *status = CU_STREAM_CAPTURE_STATUS_NONE;
  if (id != nullptr) *id = 0;
  if (graph != nullptr) *graph = nullptr;
  if (dependencies != nullptr) *dependencies = nullptr;
  if (count != nullptr) *count = 0;
  const std::shared_ptr<Capture> capture = stream->GetCapture();
  if (capture == nullptr) return CUDA_SUCCESS;
  std::lock_guard<std::mutex> lock(capture->mutex);
  *status = capture->invalidated ? CU_STREAM_CAPTURE_STATUS_INVALIDATED : CU_STREAM_CAPTURE_STATUS_ACTIVE;
  if (id != nullptr) *id = capture->id;
  if (capture->invalidated) return CUDA_SUCCESS;
  if (graph != nullptr) *graph = reinterpret_cast<CUgraph>(capture->graph);
  // The list is good until the next call on the stream.
  const std::vector<GraphNode*>& frontier = capture->frontier[stream];
  if (dependencies != nullptr) *dependencies = reinterpret_cast<const CUgraphNode*>(frontier.data());
  if (count != nullptr) *count = frontier.size();
  return CUDA_SUCCESS;
}

CUresult UpdateCapture(CUstream handle, const CUgraphNode* dependencies, size_t count, unsigned flags) {
  Stream* stream;
  SIMCUDA_TRY(CurrentStream(handle, &stream));
  const std::shared_ptr<Capture> capture = stream->GetCapture();
  if (capture == nullptr) return CUDA_ERROR_ILLEGAL_STATE;
  std::lock_guard<std::mutex> lock(capture->mutex);
  std::vector<GraphNode*> nodes;
  SIMCUDA_TRY(ReadDependencies(capture->graph, dependencies, count, &nodes));
  std::vector<GraphNode*>& frontier = capture->frontier[stream];
  if (flags == CU_STREAM_SET_CAPTURE_DEPENDENCIES) frontier.clear();
  for (GraphNode* node : nodes) {
    if (std::find(frontier.begin(), frontier.end(), node) == frontier.end()) frontier.push_back(node);
  }
  return CUDA_SUCCESS;
}

}  // namespace

extern "C" {

CUresult cuStreamBeginCapture_v2(CUstream handle, CUstreamCaptureMode mode) {
  Stream* stream;
  SIMCUDA_TRY(CurrentStream(handle, &stream));
  return BeginCapture(stream, nullptr, {}, mode);
}

CUresult cuStreamBeginCaptureToGraph(CUstream handle, CUgraph graph_handle, const CUgraphNode* dependencies,
                                     const CUgraphEdgeData*, size_t count, CUstreamCaptureMode mode) {
  Stream* stream;
  SIMCUDA_TRY(CurrentStream(handle, &stream));
  Graph* graph = Handles<Graph>::Get(graph_handle);
  if (graph == nullptr) return CUDA_ERROR_INVALID_VALUE;
  std::vector<GraphNode*> nodes;
  SIMCUDA_TRY(ReadDependencies(graph, dependencies, count, &nodes));
  return BeginCapture(stream, graph, nodes, mode);
}

CUresult cuStreamEndCapture(CUstream handle, CUgraph* graph_handle) {
  Stream* stream;
  SIMCUDA_TRY(CurrentStream(handle, &stream));
  if (graph_handle == nullptr) return CUDA_ERROR_INVALID_VALUE;
  Graph* graph = nullptr;
  const CUresult result = EndCapture(stream, &graph);
  *graph_handle = reinterpret_cast<CUgraph>(graph);
  return result;
}

CUresult cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus* status) {
  return CaptureInfo(stream, status, nullptr, nullptr, nullptr, nullptr);
}

CUresult cuStreamGetCaptureInfo_v2(CUstream stream, CUstreamCaptureStatus* status, cuuint64_t* id, CUgraph* graph,
                                   const CUgraphNode** dependencies, size_t* count) {
  return CaptureInfo(stream, status, id, graph, dependencies, count);
}

CUresult cuStreamGetCaptureInfo_v3(CUstream stream, CUstreamCaptureStatus* status, cuuint64_t* id, CUgraph* graph,
                                   const CUgraphNode** dependencies, const CUgraphEdgeData** edges, size_t* count) {
  if (edges != nullptr) *edges = nullptr;
  return CaptureInfo(stream, status, id, graph, dependencies, count);
}

CUresult cuStreamUpdateCaptureDependencies_v2(CUstream stream, CUgraphNode* dependencies, const CUgraphEdgeData*,
                                              size_t count, unsigned flags) {
  return UpdateCapture(stream, dependencies, count, flags);
}

}  // extern "C"

}  // namespace vramtrack::simcuda
