// SPDX-License-Identifier: Apache-2.0
#include "tests/simcuda/libraries/cudnn.h"

#include "tests/simcuda/libraries/cudnn_tensor.h"
#include "tests/simcuda/libraries/descriptor.h"
#include "tests/simcuda/libraries/workspace.h"

using vramtrack::simcuda::Create;
using vramtrack::simcuda::Destroy;
using vramtrack::simcuda::Tensor;
using vramtrack::simcuda::WorkBytes;

struct cudnnContext {
  vramtrack::simcuda::Workspace workspace;
  void* stream = nullptr;
};

// Of the soname that a wheel asks for, in what is linked for one.
extern "C" __attribute__((weak)) const int simcuda_library_major;

namespace {

int Major() { return &simcuda_library_major != nullptr ? simcuda_library_major : 9; }

// The last minor release that a version number has room for: programs refuse one that is older than what they were
// built with.
constexpr int kMinor9 = 99, kMinor8 = 9;

cudnnStatus_t Report(size_t* bytes, size_t value) {
  *bytes = value;
  return 0;
}

// cudnnConvolution*AlgoPerf_t.
struct AlgorithmPerformance {
  int algorithm;
  int status;
  float time;
  size_t bytes;
  int determinism;
  int math;
  int reserved[3];
};
static_assert(sizeof(AlgorithmPerformance) == 48, "not the layout of cuDNN");

// One algorithm for everything.
cudnnStatus_t OneAlgorithm(size_t bytes, int wanted, int* found, void* results) {
  if (wanted < 1) return 2000;
  *static_cast<AlgorithmPerformance*>(results) = {1, 0, 0, bytes, 1, 0, {}};
  *found = 1;
  return 0;
}

}  // namespace

extern "C" {

cudnnStatus_t cudnnCreate(cudnnHandle_t* handle) {
  if (handle == nullptr) return 2000;
  auto* created = new cudnnContext;
  if (!created->workspace.Take(vramtrack::simcuda::kCudnnWorkspaceBytes)) {
    delete created;
    return 4002;
  }
  *handle = created;
  return 0;
}

cudnnStatus_t cudnnDestroy(cudnnHandle_t handle) {
  if (handle == nullptr) return 2000;
  delete handle;
  return 0;
}

cudnnStatus_t cudnnSetStream(cudnnHandle_t handle, void* stream) {
  handle->stream = stream;
  return 0;
}

cudnnStatus_t cudnnGetStream(cudnnHandle_t handle, void** stream) {
  *stream = handle->stream;
  return 0;
}

size_t cudnnGetVersion() { return Major() >= 9 ? Major() * 10000 + kMinor9 * 100 : Major() * 1000 + kMinor8 * 100; }

size_t cudnnGetCudartVersion() {
  int version = 0;
  cudaRuntimeGetVersion(&version);
  return static_cast<size_t>(version);
}

// MAJOR_VERSION, MINOR_VERSION, PATCH_LEVEL.
cudnnStatus_t cudnnGetProperty(int property, int* value) {
  *value = property == 0 ? Major() : property == 1 ? (Major() >= 9 ? kMinor9 : kMinor8) : 0;
  return 0;
}

const char* cudnnGetErrorString(cudnnStatus_t) { return "status of the simulated cuDNN"; }

void cudnnGetLastErrorString(char* text, size_t size) {
  if (size != 0) *text = '\0';
}

cudnnStatus_t cudnnCreateActivationDescriptor(void** descriptor) { return Create(descriptor); }
cudnnStatus_t cudnnDestroyActivationDescriptor(void* descriptor) { return Destroy(descriptor); }
cudnnStatus_t cudnnCreateCTCLossDescriptor(void** descriptor) { return Create(descriptor); }
cudnnStatus_t cudnnDestroyCTCLossDescriptor(void* descriptor) { return Destroy(descriptor); }
cudnnStatus_t cudnnCreateConvolutionDescriptor(void** descriptor) { return Create(descriptor); }
cudnnStatus_t cudnnDestroyConvolutionDescriptor(void* descriptor) { return Destroy(descriptor); }
cudnnStatus_t cudnnCreateDropoutDescriptor(void** descriptor) { return Create(descriptor); }
cudnnStatus_t cudnnDestroyDropoutDescriptor(void* descriptor) { return Destroy(descriptor); }
cudnnStatus_t cudnnCreatePoolingDescriptor(void** descriptor) { return Create(descriptor); }
cudnnStatus_t cudnnDestroyPoolingDescriptor(void* descriptor) { return Destroy(descriptor); }
cudnnStatus_t cudnnCreateSpatialTransformerDescriptor(void** descriptor) { return Create(descriptor); }
cudnnStatus_t cudnnDestroySpatialTransformerDescriptor(void* descriptor) { return Destroy(descriptor); }

// A state of the generator for each thread that the device can run.
cudnnStatus_t cudnnDropoutGetStatesSize(cudnnHandle_t, size_t* bytes) {
  int processors = 0, threads = 0, device = 0;
  cudaGetDevice(&device);
  cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
  cudaDeviceGetAttribute(&threads, cudaDevAttrMaxThreadsPerMultiProcessor, device);
  return Report(bytes, size_t{16} * static_cast<size_t>(processors) * static_cast<size_t>(threads));
}

// A mean and a variance for each channel, which is what the scales have.
cudnnStatus_t cudnnGetBatchNormalizationForwardTrainingExWorkspaceSize(cudnnHandle_t, int, int, void*, void*, void*,
                                                                       void* scales, void*, size_t* bytes) {
  return Report(bytes, WorkBytes(2 * static_cast<Tensor*>(scales)->bytes()));
}

cudnnStatus_t cudnnGetBatchNormalizationTrainingExReserveSpaceSize(cudnnHandle_t, int, int, void*, void* x,
                                                                   size_t* bytes) {
  // A bit for each element, for the activation that may follow.
  return Report(bytes, WorkBytes(static_cast<Tensor*>(x)->bytes() / 32));
}

cudnnStatus_t cudnnGetBatchNormalizationBackwardExWorkspaceSize(cudnnHandle_t, int, int, void*, void*, void*, void*,
                                                                void*, void* scales, void*, size_t* bytes) {
  return Report(bytes, WorkBytes(2 * static_cast<Tensor*>(scales)->bytes()));
}

cudnnStatus_t cudnnGetCTCLossWorkspaceSize(cudnnHandle_t, void* probabilities, void* gradients, const int*, const int*,
                                           const int*, int, void*, size_t* bytes) {
  return Report(bytes, WorkBytes({probabilities, gradients}));
}

cudnnStatus_t cudnnGetCTCLossWorkspaceSize_v8(cudnnHandle_t, int, void*, void* probabilities, void* gradients,
                                              size_t* bytes) {
  return Report(bytes, WorkBytes({probabilities, gradients}));
}

// Convolutions of the older interface. x, y and w are tensors, and filters their kin.
cudnnStatus_t cudnnGetConvolutionForwardWorkspaceSize(cudnnHandle_t, void* x, void* w, void*, void* y, int,
                                                      size_t* bytes) {
  return Report(bytes, WorkBytes({x, w, y}));
}

cudnnStatus_t cudnnGetConvolutionBackwardDataWorkspaceSize(cudnnHandle_t, void* w, void* dy, void*, void* dx, int,
                                                           size_t* bytes) {
  return Report(bytes, WorkBytes({w, dy, dx}));
}

cudnnStatus_t cudnnGetConvolutionBackwardFilterWorkspaceSize(cudnnHandle_t, void* x, void* dy, void*, void* dw, int,
                                                             size_t* bytes) {
  return Report(bytes, WorkBytes({x, dy, dw}));
}

cudnnStatus_t cudnnGetConvolutionForwardAlgorithm_v7(cudnnHandle_t, void* x, void* w, void*, void* y, int wanted,
                                                     int* found, void* results) {
  return OneAlgorithm(WorkBytes({x, w, y}), wanted, found, results);
}

cudnnStatus_t cudnnGetConvolutionBackwardDataAlgorithm_v7(cudnnHandle_t, void* w, void* dy, void*, void* dx, int wanted,
                                                          int* found, void* results) {
  return OneAlgorithm(WorkBytes({w, dy, dx}), wanted, found, results);
}

cudnnStatus_t cudnnGetConvolutionBackwardFilterAlgorithm_v7(cudnnHandle_t, void* x, void* dy, void*, void* dw,
                                                            int wanted, int* found, void* results) {
  return OneAlgorithm(WorkBytes({x, dy, dw}), wanted, found, results);
}

cudnnStatus_t cudnnFindConvolutionForwardAlgorithmEx(cudnnHandle_t, void* x, void*, void* w, void*, void*, void* y,
                                                     void*, int wanted, int* found, void* results, void*, size_t) {
  return OneAlgorithm(WorkBytes({x, w, y}), wanted, found, results);
}

cudnnStatus_t cudnnFindConvolutionBackwardDataAlgorithmEx(cudnnHandle_t, void* w, void*, void* dy, void*, void*,
                                                          void* dx, void*, int wanted, int* found, void* results, void*,
                                                          size_t) {
  return OneAlgorithm(WorkBytes({w, dy, dx}), wanted, found, results);
}

cudnnStatus_t cudnnFindConvolutionBackwardFilterAlgorithmEx(cudnnHandle_t, void* x, void*, void* dy, void*, void*,
                                                            void* dw, void*, int wanted, int* found, void* results,
                                                            void*, size_t) {
  return OneAlgorithm(WorkBytes({x, dy, dw}), wanted, found, results);
}

}  // extern "C"
