// SPDX-License-Identifier: Apache-2.0
// Streams. Work that is submitted to one is done at once; only events may be late.
#include <cuda.h>

#include <algorithm>

#include "tests/simcuda/device/clock.h"
#include "tests/simcuda/device/log.h"
#include "tests/simcuda/device/transfer.h"
#include "tests/simcuda/driver/capture.h"
#include "tests/simcuda/driver/current.h"

namespace vramtrack::simcuda {
namespace {

bool IsBusy(const Stream& stream) {
  const int64_t until = stream.busy_until_ns.load(std::memory_order_relaxed);
  return until != 0 && NowNs() < until;
}

template <typename Value>
CUresult WriteValue(CUstream stream, CUdeviceptr address, Value value) {
  return Submit(stream, CU_GRAPH_NODE_TYPE_BATCH_MEM_OP,
                [=] { return CopyBytes(ToAddress(address), &value, sizeof(value)); });
}

}  // namespace

extern "C" {

CUresult cuStreamCreateWithPriority(CUstream* stream, unsigned flags, int priority) {
  Context* context;
  SIMCUDA_TRY(CurrentContext(&context));
  if (stream == nullptr || flags > CU_STREAM_NON_BLOCKING) return CUDA_ERROR_INVALID_VALUE;
  *stream = reinterpret_cast<CUstream>(Handles<Stream>::Create(context, flags, priority, NextId()));
  return CUDA_SUCCESS;
}

CUresult cuStreamCreate(CUstream* stream, unsigned flags) { return cuStreamCreateWithPriority(stream, flags, 0); }

CUresult cuStreamDestroy_v2(CUstream handle) {
  SIMCUDA_TRY(CheckInitialized());
  Stream* stream = Handles<Stream>::Get(handle);
  if (stream == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (stream->IsCapturing()) {
    InvalidateCapture(stream);
    Graph* graph;
    EndCapture(stream, &graph);
  }
  Handles<Stream>::Destroy(stream);
  return CUDA_SUCCESS;
}

CUresult cuStreamGetPriority(CUstream handle, int* priority) {
  Stream* stream;
  SIMCUDA_TRY(CurrentStream(handle, &stream));
  if (priority == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *priority = stream->priority;
  return CUDA_SUCCESS;
}

CUresult cuStreamGetFlags(CUstream handle, unsigned* flags) {
  Stream* stream;
  SIMCUDA_TRY(CurrentStream(handle, &stream));
  if (flags == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *flags = stream->flags;
  return CUDA_SUCCESS;
}

CUresult cuStreamGetCtx(CUstream handle, CUcontext* context) {
  Stream* stream;
  SIMCUDA_TRY(CurrentStream(handle, &stream));
  if (context == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *context = reinterpret_cast<CUcontext>(stream->context);
  return CUDA_SUCCESS;
}

CUresult cuStreamQuery(CUstream handle) {
  Stream* stream;
  SIMCUDA_TRY(CurrentStream(handle, &stream));
  if (stream->IsCapturing()) {
    InvalidateCapture(stream);
    return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  }
  return IsBusy(*stream) ? CUDA_ERROR_NOT_READY : CUDA_SUCCESS;
}

CUresult cuStreamSynchronize(CUstream handle) {
  Stream* stream;
  SIMCUDA_TRY(CurrentStream(handle, &stream));
  if (stream->IsCapturing()) {
    InvalidateCapture(stream);
    return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  }
  Count(Counter::kSynchronize);
  if (IsBusy(*stream)) SleepUntilNs(stream->busy_until_ns);
  stream->context->device->TrimPools();
  return CUDA_SUCCESS;
}

CUresult cuStreamWaitEvent(CUstream handle, CUevent event_handle, unsigned) {
  Stream* stream;
  SIMCUDA_TRY(CurrentStream(handle, &stream));
  Event* event = Handles<Event>::Get(event_handle);
  if (event == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (event->captured) return CaptureWait(stream, event);
  if (stream->IsCapturing()) return CaptureNode(stream, CU_GRAPH_NODE_TYPE_WAIT_EVENT, nullptr);
  const int64_t ready = event->ready_at_ns.load(std::memory_order_relaxed);
  if (GetOptions().event_delay_us != 0 && event->recorded) RaiseTo(&stream->busy_until_ns, ready);
  return CUDA_SUCCESS;
}

CUresult cuStreamAddCallback(CUstream handle, CUstreamCallback callback, void* data, unsigned flags) {
  Stream* stream;
  SIMCUDA_TRY(CurrentStream(handle, &stream));
  if (callback == nullptr || flags != 0) return CUDA_ERROR_INVALID_VALUE;
  if (stream->IsCapturing()) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  callback(handle, CUDA_SUCCESS, data);
  return CUDA_SUCCESS;
}

CUresult cuLaunchHostFunc(CUstream handle, CUhostFn function, void* data) {
  if (function == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return Submit(handle, CU_GRAPH_NODE_TYPE_HOST, [=] {
    function(data);
    return true;
  });
}

CUresult cuStreamAttachMemAsync(CUstream handle, CUdeviceptr, size_t, unsigned) {
  Stream* stream;
  return CurrentStream(handle, &stream);
}

CUresult cuStreamCopyAttributes(CUstream to, CUstream from) {
  Stream* stream;
  SIMCUDA_TRY(CurrentStream(to, &stream));
  return CurrentStream(from, &stream);
}

CUresult cuStreamWriteValue32_v2(CUstream stream, CUdeviceptr address, cuuint32_t value, unsigned) {
  return WriteValue(stream, address, value);
}

CUresult cuStreamWriteValue64_v2(CUstream stream, CUdeviceptr address, cuuint64_t value, unsigned) {
  return WriteValue(stream, address, value);
}

// Whatever is waited for would have been written by work that is done already.
CUresult cuStreamWaitValue32_v2(CUstream handle, CUdeviceptr, cuuint32_t, unsigned) {
  Stream* stream;
  return CurrentStream(handle, &stream);
}

CUresult cuStreamWaitValue64_v2(CUstream handle, CUdeviceptr, cuuint64_t, unsigned) {
  Stream* stream;
  return CurrentStream(handle, &stream);
}

}  // extern "C"

// Events. With SIMCUDA_EVENT_DELAY_US an event is ready that long after its stream got to it.
extern "C" {

CUresult cuEventCreate(CUevent* event, unsigned flags) {
  Context* context;
  SIMCUDA_TRY(CurrentContext(&context));
  if (event == nullptr || flags > 7) return CUDA_ERROR_INVALID_VALUE;
  *event = reinterpret_cast<CUevent>(Handles<Event>::Create(context, flags));
  return CUDA_SUCCESS;
}

CUresult cuEventDestroy_v2(CUevent handle) {
  SIMCUDA_TRY(CheckInitialized());
  Event* event = Handles<Event>::Get(handle);
  if (event == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  Handles<Event>::Destroy(event);
  return CUDA_SUCCESS;
}

CUresult cuEventRecordWithFlags(CUevent event_handle, CUstream stream_handle, unsigned) {
  Stream* stream;
  SIMCUDA_TRY(CurrentStream(stream_handle, &stream));
  Event* event = Handles<Event>::Get(event_handle);
  if (event == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (event->context->device != stream->context->device) return CUDA_ERROR_INVALID_HANDLE;
  if (stream->IsCapturing()) return CaptureRecord(stream, event);
  event->captured = false;
  const int64_t now = NowNs();
  int64_t ready = now;
  if (GetOptions().event_delay_us != 0) {
    ready = std::max(now, stream->busy_until_ns.load()) + GetOptions().event_delay_us * 1000;
    RaiseTo(&stream->busy_until_ns, ready);
    RaiseTo(&stream->context->device->busy_until_ns, ready);
  }
  event->ready_at_ns.store(ready, std::memory_order_relaxed);
  event->recorded.store(true, std::memory_order_release);
  return CUDA_SUCCESS;
}

CUresult cuEventRecord(CUevent event, CUstream stream) { return cuEventRecordWithFlags(event, stream, 0); }

CUresult cuEventQuery(CUevent handle) {
  SIMCUDA_TRY(CheckInitialized());
  Event* event = Handles<Event>::Get(handle);
  if (event == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (event->captured) return CUDA_ERROR_CAPTURED_EVENT;
  return !event->recorded || NowNs() >= event->ready_at_ns ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}

CUresult cuEventSynchronize(CUevent handle) {
  SIMCUDA_TRY(CheckInitialized());
  Event* event = Handles<Event>::Get(handle);
  if (event == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (event->captured) return CUDA_ERROR_CAPTURED_EVENT;
  Count(Counter::kSynchronize);
  if (event->recorded) SleepUntilNs(event->ready_at_ns);
  event->context->device->TrimPools();
  return CUDA_SUCCESS;
}

CUresult cuEventElapsedTime_v2(float* milliseconds, CUevent start_handle, CUevent end_handle) {
  SIMCUDA_TRY(CheckInitialized());
  if (milliseconds == nullptr) return CUDA_ERROR_INVALID_VALUE;
  Event* start = Handles<Event>::Get(start_handle);
  Event* end = Handles<Event>::Get(end_handle);
  if (start == nullptr || end == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if ((start->flags | end->flags) & CU_EVENT_DISABLE_TIMING) return CUDA_ERROR_INVALID_HANDLE;
  if (!start->recorded || !end->recorded) return CUDA_ERROR_INVALID_HANDLE;
  const int64_t now = NowNs();
  if (now < start->ready_at_ns || now < end->ready_at_ns) return CUDA_ERROR_NOT_READY;
  *milliseconds = static_cast<float>(static_cast<double>(end->ready_at_ns - start->ready_at_ns) / 1e6);
  return CUDA_SUCCESS;
}

}  // extern "C"

}  // namespace vramtrack::simcuda
