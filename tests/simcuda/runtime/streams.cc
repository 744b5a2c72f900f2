// SPDX-License-Identifier: Apache-2.0
// Streams and events. The handles are the driver's.
#include "tests/simcuda/runtime/driver.h"

namespace vramtrack::simcuda {

extern "C" {

cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int priority) {
  RUNTIME_TRY(Bind());
  return Done(DRIVER(cuStreamCreateWithPriority)(stream, flags, priority));
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  return cudaStreamCreateWithPriority(stream, flags, 0);
}

cudaError_t cudaStreamCreate(cudaStream_t* stream) { return cudaStreamCreateWithPriority(stream, 0, 0); }

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  RUNTIME_TRY(Bind());
  return Done(DRIVER(cuStreamDestroy_v2)(stream));
}

cudaError_t cudaStreamGetPriority(cudaStream_t stream, int* priority) {
  RUNTIME_TRY(Bind());
  return Done(DRIVER(cuStreamGetPriority)(stream, priority));
}

cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned* flags) {
  RUNTIME_TRY(Bind());
  return Done(DRIVER(cuStreamGetFlags)(stream, flags));
}

cudaError_t cudaStreamQuery(cudaStream_t stream) {
  RUNTIME_TRY(Bind());
  return Done(DRIVER(cuStreamQuery)(stream));
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  RUNTIME_TRY(Bind());
  return Done(DRIVER(cuStreamSynchronize)(stream));
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags) {
  RUNTIME_TRY(Bind());
  return Done(DRIVER(cuStreamWaitEvent)(stream, event, flags));
}

cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback, void* data, unsigned flags) {
  RUNTIME_TRY(Bind());
  // The two kinds of callback differ in the type of the error only.
  return Done(DRIVER(cuStreamAddCallback)(stream, reinterpret_cast<CUstreamCallback>(callback), data, flags));
}

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* data) {
  RUNTIME_TRY(Bind());
  return Done(DRIVER(cuLaunchHostFunc)(stream, function, data));
}

cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, void* address, size_t bytes, unsigned flags) {
  RUNTIME_TRY(Bind());
  return Done(DRIVER(cuStreamAttachMemAsync)(stream, ToPointer(address), bytes, flags));
}

cudaError_t cudaStreamCopyAttributes(cudaStream_t to, cudaStream_t from) {
  RUNTIME_TRY(Bind());
  return Done(DRIVER(cuStreamCopyAttributes)(to, from));
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  RUNTIME_TRY(Bind());
  return Done(DRIVER(cuEventCreate)(event, flags));
}

// cuda_runtime.h has a C++ function of the same name that takes flags.
cudaError_t cudaEventCreate(cudaEvent_t* event) { return cudaEventCreateWithFlags(event, cudaEventDefault); }

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  RUNTIME_TRY(Bind());
  return Done(DRIVER(cuEventDestroy_v2)(event));
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  RUNTIME_TRY(Bind());
  return Done(DRIVER(cuEventRecord)(event, stream));
}

cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned flags) {
  RUNTIME_TRY(Bind());
  return Done(DRIVER(cuEventRecordWithFlags)(event, stream, flags));
}

cudaError_t cudaEventQuery(cudaEvent_t event) {
  RUNTIME_TRY(Bind());
  return Done(DRIVER(cuEventQuery)(event));
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  RUNTIME_TRY(Bind());
  return Done(DRIVER(cuEventSynchronize)(event));
}

// The second name is the one that programs made with CUDA 12.8 and later releases of 12 import.
cudaError_t cudaEventElapsedTime_v2(float* milliseconds, cudaEvent_t start, cudaEvent_t end) {
  RUNTIME_TRY(Bind());
  return Done(DRIVER(cuEventElapsedTime_v2)(milliseconds, start, end));
}

#undef cudaEventElapsedTime
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t end) {
  return cudaEventElapsedTime_v2(milliseconds, start, end);
}

}  // extern "C"

}  // namespace vramtrack::simcuda
