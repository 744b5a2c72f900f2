// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_SIMCUDA_DEVICE_TRANSFER_H_
#define TESTS_SIMCUDA_DEVICE_TRANSFER_H_

#include <cstddef>
#include <cstdint>

namespace vramtrack::simcuda {

// Copies and fills of host and device memory. Device memory without backing ignores writes and reads as zeros. The
// functions return false, and change nothing, if a part of a device range is not allocated. Thread-safe.

bool CopyBytes(void* to, const void* from, size_t bytes);

// Copies `slices` slices of `rows` rows of `bytes` each. Pitches are in bytes.
struct Pitched {
  void* base;
  size_t row_pitch;
  size_t slice_pitch;
};
bool CopyRows(const Pitched& to, const Pitched& from, size_t bytes, size_t rows, size_t slices);

// Sets `count` elements of 1, 2 or 4 bytes to `value` in each of `rows` rows.
bool FillRows(void* to, size_t pitch, uint32_t value, size_t element_bytes, size_t count, size_t rows);

// Returns false if a part of the range is device address space that is not allocated or not mapped.
bool IsValidRange(const void* address, size_t bytes);

}  // namespace vramtrack::simcuda

#endif  // TESTS_SIMCUDA_DEVICE_TRANSFER_H_
