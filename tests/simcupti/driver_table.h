// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_SIMCUPTI_DRIVER_TABLE_H_
#define TESTS_SIMCUPTI_DRIVER_TABLE_H_

#include <cupti.h>
#include <dlfcn.h>

#include "tests/simcuda/driver/activity.h"

namespace vramtrack::simcupti {

// The simulated driver's private table; null where another driver, or none, is in the process.
inline const simcuda::PrivateTable* DriverTable() {
  void* driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (driver == nullptr) return nullptr;
  const auto get = reinterpret_cast<int (*)(const void**, const void*)>(dlsym(driver, "cuGetExportTable"));
  const void* table = nullptr;
  if (get == nullptr || get(&table, simcuda::kPrivateTableId) != 0) return nullptr;
  return static_cast<const simcuda::PrivateTable*>(table);
}

// As the result of what asked for it: there is no simulated driver, or another CUPTI of the process is at work.
inline CUptiResult SetActivitySink(const simcuda::ActivitySink* sink) {
  const simcuda::PrivateTable* table = DriverTable();
  if (table == nullptr) return CUPTI_ERROR_NOT_INITIALIZED;
  return table->set_sink(sink) ? CUPTI_SUCCESS : CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
}

}  // namespace vramtrack::simcupti

#endif  // TESTS_SIMCUPTI_DRIVER_TABLE_H_
