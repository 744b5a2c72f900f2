// SPDX-License-Identifier: Apache-2.0
#include "tests/simcuda/driver/capture.h"

#include <pthread.h>

#include <algorithm>
#include <atomic>

#include "tests/simcuda/device/device.h"
#include "tests/simcuda/device/handles.h"

namespace vramtrack::simcuda {

__attribute__((tls_model("initial-exec"), visibility("hidden"))) thread_local CUstreamCaptureMode thread_mode =
    CU_STREAM_CAPTURE_MODE_GLOBAL;

namespace {

// Captures that forbid unsafe calls.
struct Watched {
  std::atomic<int> count{0};  // looked at by every allocation
  std::mutex mutex;
  std::vector<std::shared_ptr<Capture>> captures;
};

Watched& GetWatched() {
  static Watched* watched = new Watched;
  return *watched;
}

void Join(const std::vector<GraphNode*>& nodes, std::vector<GraphNode*>* into) {
  for (GraphNode* node : nodes) {
    if (std::find(into->begin(), into->end(), node) == into->end()) into->push_back(node);
  }
}

}  // namespace

CUresult CheckUnsafeCall() {
  Watched& watched = GetWatched();
  if (__builtin_expect(watched.count.load(std::memory_order_relaxed) == 0, 1)) return CUDA_SUCCESS;
  if (thread_mode == CU_STREAM_CAPTURE_MODE_RELAXED) return CUDA_SUCCESS;
  const unsigned long self = pthread_self();
  std::lock_guard<std::mutex> lock(watched.mutex);
  CUresult result = CUDA_SUCCESS;
  for (const auto& capture : watched.captures) {
    const bool mine = capture->thread == self;
    const bool everywhere =
        capture->mode == CU_STREAM_CAPTURE_MODE_GLOBAL && thread_mode == CU_STREAM_CAPTURE_MODE_GLOBAL;
    if (!mine && !everywhere) continue;
    std::lock_guard<std::mutex> capture_lock(capture->mutex);
    capture->invalidated = true;
    result = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  }
  return result;
}

CUresult BeginCapture(Stream* stream, Graph* graph, const std::vector<GraphNode*>& dependencies,
                      CUstreamCaptureMode mode) {
  if (stream == &stream->context->legacy_stream) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  if (stream->IsCapturing()) return CUDA_ERROR_ILLEGAL_STATE;
  auto capture = std::make_shared<Capture>();
  capture->id = NextId();
  capture->origin = stream;
  capture->to_existing_graph = graph != nullptr;
  capture->graph = graph != nullptr ? graph : Handles<Graph>::Create();
  capture->mode = mode;
  capture->thread = pthread_self();
  capture->frontier[stream] = dependencies;
  if (mode != CU_STREAM_CAPTURE_MODE_RELAXED) {
    Watched& watched = GetWatched();
    std::lock_guard<std::mutex> lock(watched.mutex);
    watched.captures.push_back(capture);
    watched.count = static_cast<int>(watched.captures.size());
  }
  stream->SetCapture(std::move(capture));
  return CUDA_SUCCESS;
}

CUresult EndCapture(Stream* stream, Graph** graph) {
  const std::shared_ptr<Capture> capture = stream->GetCapture();
  if (capture == nullptr) return CUDA_ERROR_ILLEGAL_STATE;
  if (capture->origin != stream) return CUDA_ERROR_STREAM_CAPTURE_UNMATCHED;
  if (capture->mode != CU_STREAM_CAPTURE_MODE_RELAXED && capture->thread != pthread_self()) {
    return CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD;
  }
  {
    Watched& watched = GetWatched();
    std::lock_guard<std::mutex> lock(watched.mutex);
    watched.captures.erase(std::remove(watched.captures.begin(), watched.captures.end(), capture),
                           watched.captures.end());
    watched.count = static_cast<int>(watched.captures.size());
  }
  std::lock_guard<std::mutex> lock(capture->mutex);
  bool unjoined = false;
  for (const auto& [joined, nodes] : capture->frontier) {
    joined->SetCapture(nullptr);
    if (joined == stream || nodes.empty()) continue;
    // Every stream that took part must have been waited for by the first one.
    const std::vector<GraphNode*>& end = capture->frontier[stream];
    for (GraphNode* node : nodes) {
      std::vector<GraphNode*> reached = end;
      for (size_t index = 0; index < reached.size(); ++index) {
        for (GraphNode* dependency : reached[index]->dependencies) Join({dependency}, &reached);
      }
      unjoined |= std::find(reached.begin(), reached.end(), node) == reached.end();
    }
  }
  *graph = nullptr;
  if (capture->invalidated || unjoined) {
    if (!capture->to_existing_graph) Handles<Graph>::Destroy(capture->graph);
    return capture->invalidated ? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED : CUDA_ERROR_STREAM_CAPTURE_UNJOINED;
  }
  *graph = capture->graph;
  return CUDA_SUCCESS;
}

CUresult CaptureNode(Stream* stream, CUgraphNodeType type, std::function<CUresult()> action, GraphNode** added) {
  const std::shared_ptr<Capture> capture = stream->GetCapture();
  if (capture == nullptr) return CUDA_ERROR_ILLEGAL_STATE;
  std::lock_guard<std::mutex> lock(capture->mutex);
  if (capture->invalidated) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  std::vector<GraphNode*>& frontier = capture->frontier[stream];
  GraphNode* node = capture->graph->Add(type, frontier);
  node->action = std::move(action);
  frontier.assign(1, node);
  if (added != nullptr) *added = node;
  return CUDA_SUCCESS;
}

CUresult CaptureRecord(Stream* stream, Event* event) {
  const std::shared_ptr<Capture> capture = stream->GetCapture();
  if (capture == nullptr) return CUDA_ERROR_ILLEGAL_STATE;
  std::lock_guard<std::mutex> lock(capture->mutex);
  if (capture->invalidated) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  capture->recorded[event] = capture->frontier[stream];
  std::lock_guard<std::mutex> event_lock(event->capture_mutex);
  event->capture = capture;
  event->captured = true;
  return CUDA_SUCCESS;
}

CUresult CaptureWait(Stream* stream, Event* event) {
  std::shared_ptr<Capture> capture;
  {
    std::lock_guard<std::mutex> event_lock(event->capture_mutex);
    capture = event->capture.lock();
  }
  const std::shared_ptr<Capture> own = stream->GetCapture();
  if (capture == nullptr) return CUDA_SUCCESS;
  if (own != nullptr && own != capture) return CUDA_ERROR_STREAM_CAPTURE_MERGE;
  if (stream == &stream->context->legacy_stream) return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
  std::lock_guard<std::mutex> lock(capture->mutex);
  Join(capture->recorded[event], &capture->frontier[stream]);
  if (own == nullptr) stream->SetCapture(capture);
  return CUDA_SUCCESS;
}

void InvalidateCapture(Stream* stream) {
  const std::shared_ptr<Capture> capture = stream->GetCapture();
  if (capture == nullptr) return;
  std::lock_guard<std::mutex> lock(capture->mutex);
  capture->invalidated = true;
}

extern "C" CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode* mode) {
  if (mode == nullptr || static_cast<unsigned>(*mode) > CU_STREAM_CAPTURE_MODE_RELAXED) return CUDA_ERROR_INVALID_VALUE;
  std::swap(*mode, thread_mode);
  return CUDA_SUCCESS;
}

// Graphs made of what is submitted to streams.
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
