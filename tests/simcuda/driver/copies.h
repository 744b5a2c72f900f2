// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_SIMCUDA_DRIVER_COPIES_H_
#define TESTS_SIMCUDA_DRIVER_COPIES_H_

#include <cuda.h>

#include "tests/simcuda/device/transfer.h"

namespace vramtrack::simcuda {

// A copy of a box of bytes between two addresses. Arrays are stored in memory row by row, so they have an address as
// well.
struct BoxCopy {
  Pitched to{};
  Pitched from{};
  size_t bytes = 0;  // bytes per row
  size_t rows = 1;
  size_t slices = 1;

  // Copies. Returns the result of CopyRows.
  bool Run() const { return CopyRows(to, from, bytes, rows, slices); }
};

// Convert a descriptor. Return false if it is invalid.
bool ReadBox(const CUDA_MEMCPY2D& descriptor, BoxCopy* copy);
bool ReadBox(const CUDA_MEMCPY3D& descriptor, BoxCopy* copy);
bool ReadBox(const CUDA_MEMCPY3D_PEER& descriptor, BoxCopy* copy);

}  // namespace vramtrack::simcuda

#endif  // TESTS_SIMCUDA_DRIVER_COPIES_H_
