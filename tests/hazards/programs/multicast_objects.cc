// SPDX-License-Identifier: Apache-2.0
//
// Memory that only a multicast object keeps: its own handle is released and it is not mapped. After each change the
// program asks how much of the device is free. What is bound last stays bound.
#include <initializer_list>

#include "tests/hazards/programs/device.h"
#include "tests/hazards/programs/driver.h"

namespace {

constexpr size_t kPage = 2 << 20;

size_t first_free = 0;
void Ask(const char* what) {
  size_t free = 0, total = 0;
  CU(cuMemGetInfo_v2, &free, &total);
  if (first_free == 0) first_free = free;
  std::printf("%s: %zu MiB\n", what, (first_free - free) >> 20);
}

CUmemGenericAllocationHandle NewMulticast(size_t bytes) {
  CUmulticastObjectProp properties = {};
  properties.numDevices = 1;
  properties.size = bytes;
  properties.handleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  CUmemGenericAllocationHandle multicast = 0;
  CU(cuMulticastCreate, &multicast, &properties);
  CU(cuMulticastAddDevice, multicast, 0);
  return multicast;
}

CUmemGenericAllocationHandle NewMemory(size_t bytes) {
  CUmemAllocationProp properties = {};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  CUmemGenericAllocationHandle memory = 0;
  CU(cuMemCreate, &memory, bytes, &properties, 0);
  return memory;
}

void BindNew(CUmemGenericAllocationHandle multicast, size_t offset) {
  const CUmemGenericAllocationHandle memory = NewMemory(kPage);
  CU(cuMulticastBindMem, multicast, offset, memory, 0, kPage, 0);
  CU(cuMemRelease, memory);
}

}  // namespace

int main() {
  cudaFree(nullptr);
  Ask("before");
  const CUmemGenericAllocationHandle multicast = NewMulticast(4 * kPage);
  BindNew(multicast, 0);
  Ask("bound by its handle");
  CU(cuMulticastUnbind, multicast, 0, 0, kPage);
  Ask("unbound");

  CUdeviceptr range = 0, window = 0;
  CU(cuMemAddressReserve, &range, 2 * kPage, 0, 0, 0);
  const CUmemGenericAllocationHandle mapped = NewMemory(2 * kPage);
  CU(cuMemMap, range, 2 * kPage, 0, mapped, 0);
  CU(cuMulticastBindAddr, multicast, kPage, range + kPage, kPage, 0);
  CU(cuMemRelease, mapped);
  Ask("bound by its address");
  CU(cuMemUnmap, range, 2 * kPage);
  Ask("not mapped any more");

  for (int i = 0; i < 300; ++i) {
    BindNew(multicast, 2 * kPage);
    CU(cuMulticastUnbind, multicast, 0, 2 * kPage, kPage);
  }
  BindNew(multicast, 2 * kPage);
  Ask("another one");
  CU(cuMemAddressReserve, &window, 4 * kPage, 0, 0, 0);
  CU(cuMemMap, window, 4 * kPage, 0, multicast, 0);
  CU(cuMemRelease, multicast);
  Ask("the object is released and mapped");
  CU(cuMemUnmap, window, 4 * kPage);
  Ask("the object is gone");

  const CUmemGenericAllocationHandle kept = NewMulticast(4 * kPage);
  BindNew(kept, 0);
  Ask("kept");
  const CUmemGenericAllocationHandle passing = NewMulticast(kPage);
  BindNew(passing, 0);
  Ask("and one that passes");
  CU(cuMemRelease, passing);
  Ask("gone with its object");
  return 0;
}
