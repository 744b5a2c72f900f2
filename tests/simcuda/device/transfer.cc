// SPDX-License-Identifier: Apache-2.0
#include "tests/simcuda/device/transfer.h"

#include <sys/mman.h>

#include <cstring>

#include "tests/simcuda/device/device.h"
#include "tests/simcuda/device/log.h"
#include "tests/simcuda/device/options.h"
#include "tests/simcuda/device/virtual_memory.h"

namespace vramtrack::simcuda {
namespace {

size_t Extent(size_t bytes, size_t row_pitch, size_t rows, size_t slice_pitch, size_t slices) {
  return bytes + (rows - 1) * row_pitch + (slices - 1) * slice_pitch;
}

// Memory that only a backed device can hold.
bool IsDeviceMemory(const void* address) {
  return DeviceOf(address) != nullptr || Describe(address).kind == PointerInfo::Kind::kDevice;
}

void TouchPages(void* address, size_t bytes) {
  // Mapped memory was touched when it was made accessible.
  if (Device* device = DeviceOf(address)) device->memory.arena().Touch(address, bytes);
}

// Whole pages of a window on device memory are given back rather than written.
void ClearMapped(char* to, size_t bytes) {
  char* const end = to + bytes;
  const uintptr_t first = (reinterpret_cast<uintptr_t>(to) + kPageBytes - 1) / kPageBytes * kPageBytes;
  const uintptr_t last = reinterpret_cast<uintptr_t>(end) / kPageBytes * kPageBytes;
  char* const pages = reinterpret_cast<char*>(first);
  if (first >= last || madvise(pages, last - first, MADV_REMOVE) != 0) {
    memset(to, 0, bytes);
    return;
  }
  memset(to, 0, static_cast<size_t>(pages - to));
  memset(reinterpret_cast<char*>(last), 0, static_cast<size_t>(end - reinterpret_cast<char*>(last)));
}

void MoveBytes(void* to, const void* from, size_t bytes) {
  if (!GetOptions().backed) {
    if (IsDeviceMemory(to)) return;
    if (IsDeviceMemory(from)) {
      memset(to, 0, bytes);
      return;
    }
  }
  memmove(to, from, bytes);
}

}  // namespace

bool IsValidRange(const void* address, size_t bytes) {
  const char* at = static_cast<const char*>(address);
  const char* end = at + bytes;
  while (at < end) {
    const PointerInfo info = Describe(at);
    if (info.kind == PointerInfo::Kind::kUnknown) {
      char* base;
      size_t reserved;
      return DeviceOf(at) == nullptr && !VirtualMemory::Get().FindReservation(at, &base, &reserved);
    }
    if (info.kind != PointerInfo::Kind::kDevice) return true;
    const char* end_of_range = info.base + (info.bytes + kUnitBytes - 1) / kUnitBytes * kUnitBytes;
    if (end <= end_of_range) return true;
    // Segments that grow are one range made of several mappings.
    if (!info.mapped) return false;
    at = end_of_range;
  }
  return true;
}

bool CopyBytes(void* to, const void* from, size_t bytes) {
  Count(Counter::kCopy);
  if (bytes == 0) return true;
  if (!IsValidRange(to, bytes) || !IsValidRange(from, bytes)) return false;
  TouchPages(to, bytes);
  MoveBytes(to, from, bytes);
  return true;
}

bool CopyRows(const Pitched& to, const Pitched& from, size_t bytes, size_t rows, size_t slices) {
  Count(Counter::kCopy);
  if (bytes == 0 || rows == 0 || slices == 0) return true;
  const size_t to_extent = Extent(bytes, to.row_pitch, rows, to.slice_pitch, slices);
  const size_t from_extent = Extent(bytes, from.row_pitch, rows, from.slice_pitch, slices);
  if (!IsValidRange(to.base, to_extent) || !IsValidRange(from.base, from_extent)) return false;
  TouchPages(to.base, to_extent);
  for (size_t slice = 0; slice < slices; ++slice) {
    for (size_t row = 0; row < rows; ++row) {
      MoveBytes(static_cast<char*>(to.base) + slice * to.slice_pitch + row * to.row_pitch,
                static_cast<const char*>(from.base) + slice * from.slice_pitch + row * from.row_pitch, bytes);
    }
  }
  return true;
}

bool FillRows(void* to, size_t pitch, uint32_t value, size_t element_bytes, size_t count, size_t rows) {
  Count(Counter::kFill);
  if (count == 0 || rows == 0) return true;
  const size_t extent = Extent(count * element_bytes, pitch, rows, 0, 1);
  if (!IsValidRange(to, extent)) return false;
  if (!GetOptions().backed && IsDeviceMemory(to)) return true;
  if (value == 0 && rows == 1) {
    if (Device* device = DeviceOf(to)) {
      device->memory.arena().Clear(to, extent);
      return true;
    }
    if (Describe(to).mapped) {
      ClearMapped(static_cast<char*>(to), extent);
      return true;
    }
  }
  TouchPages(to, extent);
  for (size_t row = 0; row < rows; ++row) {
    char* begin = static_cast<char*>(to) + row * pitch;
    if (element_bytes == 1) {
      memset(begin, static_cast<int>(value), count);
      continue;
    }
    for (size_t index = 0; index < count; ++index) memcpy(begin + index * element_bytes, &value, element_bytes);
  }
  return true;
}

}  // namespace vramtrack::simcuda
