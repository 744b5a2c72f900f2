// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_SIMCUDA_LIBRARIES_CUDNN_TENSOR_H_
#define TESTS_SIMCUDA_LIBRARIES_CUDNN_TENSOR_H_

#include <cstddef>
#include <initializer_list>
#include <vector>

namespace vramtrack::simcuda {

// Bytes of an element of a cudnnDataType_t.
size_t ElementBytes(int type);

// What tensor and filter descriptors hold.
struct Tensor {
  int type = 0;
  std::vector<int> sizes, strides;

  void Set(int new_type, int count, const int* new_sizes, const int* new_strides);
  size_t bytes() const;
};

// Bytes of the largest of the tensors, in whole 256: what an operation on them is said to work in. The real ones depend
// on the algorithm that is chosen for a device.
size_t WorkBytes(std::initializer_list<const void*> tensors);
size_t WorkBytes(size_t largest);

}  // namespace vramtrack::simcuda

#endif  // TESTS_SIMCUDA_LIBRARIES_CUDNN_TENSOR_H_
