// SPDX-License-Identifier: Apache-2.0
// Events. With SIMCUDA_EVENT_DELAY_US an event is ready that long after its stream got to it.
#include <cuda.h>

#include <algorithm>

#include "tests/simcuda/device/clock.h"
#include "tests/simcuda/device/log.h"
#include "tests/simcuda/driver/activity.h"
#include "tests/simcuda/driver/capture.h"
#include "tests/simcuda/driver/current.h"

namespace vramtrack::simcuda {

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
  SIMCUDA_TELL(synchronized, 1, 0);
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
