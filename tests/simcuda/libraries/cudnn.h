// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_SIMCUDA_LIBRARIES_CUDNN_H_
#define TESTS_SIMCUDA_LIBRARIES_CUDNN_H_

// The simulated part of cuDNN: handles, descriptors, and the memory that an operation requests. The parameters are from
// cuDNN's headers, or from its documentation.
#include <cstddef>

extern "C" {

struct cudnnContext;
typedef cudnnContext* cudnnHandle_t;
// Values: 0 success, 2000 invalid value, 4002 no device memory.
typedef int cudnnStatus_t;

cudnnStatus_t cudnnCreate(cudnnHandle_t* handle);
cudnnStatus_t cudnnDestroy(cudnnHandle_t handle);
size_t cudnnGetVersion();

cudnnStatus_t cudnnCreateTensorDescriptor(void** descriptor);
cudnnStatus_t cudnnDestroyTensorDescriptor(void* descriptor);
cudnnStatus_t cudnnSetTensorNdDescriptor(void* descriptor, int type, int count, const int* sizes, const int* strides);
cudnnStatus_t cudnnGetTensorNdDescriptor(void* descriptor, int wanted, int* type, int* count, int* sizes, int* strides);

cudnnStatus_t cudnnCreateRNNDescriptor(void** descriptor);
cudnnStatus_t cudnnDestroyRNNDescriptor(void* descriptor);
cudnnStatus_t cudnnSetRNNDescriptor_v8(void* descriptor, int algorithm, int cell, int bias, int direction, int input,
                                       int type, int precision, int math, int input_size, int hidden_size,
                                       int projection_size, int layers, void* dropout, unsigned flags);
cudnnStatus_t cudnnCreateRNNDataDescriptor(void** descriptor);
cudnnStatus_t cudnnDestroyRNNDataDescriptor(void* descriptor);
cudnnStatus_t cudnnSetRNNDataDescriptor(void* descriptor, int type, int layout, int longest, int batch, int vector_size,
                                        const int* lengths, void* padding);
cudnnStatus_t cudnnGetRNNWeightSpaceSize(cudnnHandle_t handle, void* rnn, size_t* bytes);
cudnnStatus_t cudnnGetRNNTempSpaceSizes(cudnnHandle_t handle, void* rnn, int mode, void* data, size_t* work_bytes,
                                        size_t* reserve_bytes);
// Gets the matrix and the bias of one gate of one layer: their addresses in the weights and their sizes. The address of
// a missing bias is nullptr.
cudnnStatus_t cudnnGetRNNWeightParams(cudnnHandle_t handle, void* rnn, int layer, size_t bytes, const void* weights,
                                      int gate, void* matrix, void** matrix_address, void* bias, void** bias_address);
}

namespace vramtrack::simcuda {

constexpr size_t kCudnnWorkspaceBytes = size_t{2} << 20;

// cudnnRNNMode_t, cudnnRNNBiasMode_t, cudnnDirectionMode_t, cudnnForwardMode_t.
constexpr int kRnnRelu = 0, kRnnTanh = 1, kRnnLstm = 2, kRnnGru = 3;
constexpr int kRnnNoBias = 0, kRnnOneInputBias = 1, kRnnTwoBiases = 2, kRnnOneRecurrentBias = 3;
constexpr int kRnnOneDirection = 0, kRnnTwoDirections = 1;
constexpr int kRnnInference = 0, kRnnTraining = 1;

}  // namespace vramtrack::simcuda

#endif  // TESTS_SIMCUDA_LIBRARIES_CUDNN_H_
