// SPDX-License-Identifier: Apache-2.0
//
// A library that takes device memory through a private table of the driver's, as some of NVIDIA's do: no hook sees it.
#include <dlfcn.h>

#include "tests/simcuda/driver/activity.h"

namespace {

const vramtrack::simcuda::PrivateTable* Table() {
  void* driver = dlopen("libcuda.so.1", RTLD_NOW);
  const auto get = reinterpret_cast<int (*)(const void**, const void*)>(dlsym(driver, "cuGetExportTable"));
  const void* table = nullptr;
  if (get(&table, vramtrack::simcuda::kPrivateTableId) != 0) return nullptr;
  return static_cast<const vramtrack::simcuda::PrivateTable*>(table);
}

}  // namespace

extern "C" void* TakeHidden(size_t bytes) {
  void* address = nullptr;
  return Table()->allocate(&address, bytes) == 0 ? address : nullptr;
}

extern "C" void GiveHidden(void* address) { Table()->release(address); }
