// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_SIMCUDA_DEVICE_ARRAY_H_
#define TESTS_SIMCUDA_DEVICE_ARRAY_H_

#include <algorithm>
#include <cstddef>
#include <vector>

namespace vramtrack::simcuda {

// A CUDA array, stored row by row in device memory. A height or depth of 0 means that there is no such dimension.
struct Array {
  size_t width = 0, height = 0, depth = 0;  // elements, rows, slices
  unsigned format = 0;                      // CUarray_format
  unsigned channels = 0;
  unsigned flags = 0;
  size_t element_bytes = 0;
  int device = 0;
  char* memory = nullptr;
  bool owned = true;  // false for a level of a mipmapped array

  size_t row_bytes() const { return width * element_bytes; }
  size_t rows() const { return std::max(height, size_t{1}); }
  size_t slices() const { return std::max(depth, size_t{1}); }
  size_t bytes() const { return row_bytes() * rows() * slices(); }
};

// A mipmapped array. Each level is half as large as the one before; all levels share one allocation.
struct MipmappedArray {
  int device = 0;
  char* memory = nullptr;
  std::vector<Array*> levels;
};

}  // namespace vramtrack::simcuda

#endif  // TESTS_SIMCUDA_DEVICE_ARRAY_H_
