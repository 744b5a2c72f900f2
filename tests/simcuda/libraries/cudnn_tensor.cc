// SPDX-License-Identifier: Apache-2.0
// Descriptors of tensors and filters.
#include "tests/simcuda/libraries/cudnn_tensor.h"

#include <algorithm>

#include "tests/simcuda/libraries/cudnn.h"

namespace vramtrack::simcuda {

// FLOAT 0, DOUBLE 1, HALF 2, INT8 3, INT32 4, INT8x4 5, UINT8 6, UINT8x4 7, INT8x32 8, BFLOAT16 9, INT64 10, BOOLEAN
// 11, 8-bit floats 12 and 13.
size_t ElementBytes(int type) {
  static constexpr size_t kBytes[] = {4, 8, 2, 1, 4, 4, 1, 4, 32, 2, 8, 1, 1, 1};
  return type >= 0 && type < static_cast<int>(std::size(kBytes)) ? kBytes[type] : 4;
}

void Tensor::Set(int new_type, int count, const int* new_sizes, const int* new_strides) {
  type = new_type;
  sizes.assign(new_sizes, new_sizes + count);
  strides.clear();
  if (new_strides != nullptr) strides.assign(new_strides, new_strides + count);
}

size_t Tensor::bytes() const {
  size_t elements = 1;
  for (int size : sizes) elements *= static_cast<size_t>(size);
  return elements * ElementBytes(type);
}

size_t WorkBytes(size_t largest) { return (largest + 255) / 256 * 256; }

size_t WorkBytes(std::initializer_list<const void*> tensors) {
  size_t largest = 0;
  for (const void* tensor : tensors) {
    if (tensor != nullptr) largest = std::max(largest, static_cast<const Tensor*>(tensor)->bytes());
  }
  return WorkBytes(largest);
}

namespace {

cudnnStatus_t CreateTensor(void** descriptor) {
  if (descriptor == nullptr) return 2000;
  *descriptor = new Tensor;
  return 0;
}

cudnnStatus_t DestroyTensor(void* descriptor) {
  delete static_cast<Tensor*>(descriptor);
  return 0;
}

// As many sizes as the caller has room for.
void Report(const std::vector<int>& values, int wanted, int* out) {
  const size_t room = wanted > 0 ? static_cast<size_t>(wanted) : 0;
  if (out != nullptr) std::copy_n(values.begin(), std::min(values.size(), room), out);
}

}  // namespace

extern "C" {

cudnnStatus_t cudnnCreateTensorDescriptor(void** descriptor) { return CreateTensor(descriptor); }
cudnnStatus_t cudnnDestroyTensorDescriptor(void* descriptor) { return DestroyTensor(descriptor); }
cudnnStatus_t cudnnCreateFilterDescriptor(void** descriptor) { return CreateTensor(descriptor); }
cudnnStatus_t cudnnDestroyFilterDescriptor(void* descriptor) { return DestroyTensor(descriptor); }

cudnnStatus_t cudnnSetTensorNdDescriptor(void* descriptor, int type, int count, const int* sizes, const int* strides) {
  static_cast<Tensor*>(descriptor)->Set(type, count, sizes, strides);
  return 0;
}

cudnnStatus_t cudnnSetFilterNdDescriptor(void* descriptor, int type, int, int count, const int* sizes) {
  static_cast<Tensor*>(descriptor)->Set(type, count, sizes, nullptr);
  return 0;
}

cudnnStatus_t cudnnGetTensorNdDescriptor(void* descriptor, int wanted, int* type, int* count, int* sizes,
                                         int* strides) {
  const auto* tensor = static_cast<const Tensor*>(descriptor);
  *type = tensor->type;
  *count = static_cast<int>(tensor->sizes.size());
  Report(tensor->sizes, wanted, sizes);
  Report(tensor->strides, wanted, strides);
  return 0;
}

cudnnStatus_t cudnnGetFilterNdDescriptor(void* descriptor, int wanted, int* type, int* format, int* count, int* sizes) {
  *format = 0;
  return cudnnGetTensorNdDescriptor(descriptor, wanted, type, count, sizes, nullptr);
}

}  // extern "C"

}  // namespace vramtrack::simcuda
