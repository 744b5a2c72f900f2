// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_SIMCUDA_DRIVER_COPY_DESCRIPTOR_H_
#define TESTS_SIMCUDA_DRIVER_COPY_DESCRIPTOR_H_

#include <cuda.h>

#include "tests/simcuda/device/transfer.h"

namespace vramtrack::simcuda {

// A copy of a box of bytes between two places in memory; arrays are places too, laid out row by row.
struct BoxCopy {
  Pitched to{};
  Pitched from{};
  size_t bytes = 0;  // of a row
  size_t rows = 1;
  size_t slices = 1;

  bool Run() const { return CopyRows(to, from, bytes, rows, slices); }
};

// False for descriptors that make no sense.
bool ReadBox(const CUDA_MEMCPY2D& descriptor, BoxCopy* copy);
bool ReadBox(const CUDA_MEMCPY3D& descriptor, BoxCopy* copy);
bool ReadBox(const CUDA_MEMCPY3D_PEER& descriptor, BoxCopy* copy);

}  // namespace vramtrack::simcuda

#endif  // TESTS_SIMCUDA_DRIVER_COPY_DESCRIPTOR_H_
