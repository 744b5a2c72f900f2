// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_SIMCUDA_LIBRARIES_CUDNN_TENSOR_H_
#define TESTS_SIMCUDA_LIBRARIES_CUDNN_TENSOR_H_

#include <cstddef>
#include <initializer_list>
#include <vector>

namespace vramtrack::simcuda {

// Returns the bytes of an element of a cudnnDataType_t.
size_t ElementBytes(int type);

// The contents of tensor and filter descriptors.
struct Tensor {
  int type = 0;
  std::vector<int> sizes, strides;

  void Set(int new_type, int count, const int* new_sizes, const int* new_strides);
  size_t bytes() const;
};

// Returns the workspace of an operation on the tensors: the bytes of the largest, rounded up to a multiple of 256. The
// sizes of the real cuDNN depend on the algorithm that it chooses for a device.
size_t WorkBytes(std::initializer_list<const void*> tensors);
size_t WorkBytes(size_t largest);

}  // namespace vramtrack::simcuda

#endif  // TESTS_SIMCUDA_LIBRARIES_CUDNN_TENSOR_H_
