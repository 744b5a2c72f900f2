// SPDX-License-Identifier: Apache-2.0
// Tells the simulated CUPTI which calls begin and end, see driver/activity.h.
#include "tests/simcuda/driver/activity.h"

#include <cuda.h>

#include "tests/simcuda/runtime/driver.h"

namespace vramtrack::simcuda {
namespace {

// The driver's; null before there is a driver.
std::atomic<const std::atomic<const ActivitySink*>*> driver_sink;

inline __attribute__((no_instrument_function)) const ActivitySink* Sink() {
  const auto* sink = driver_sink.load(std::memory_order_acquire);
  return sink == nullptr ? nullptr : sink->load(std::memory_order_acquire);
}

}  // namespace

void TellOfCalls() {
  const void* table = nullptr;
  if (DRIVER(cuGetExportTable)(&table, reinterpret_cast<const CUuuid*>(kPrivateTableId)) != CUDA_SUCCESS) return;
  driver_sink.store(static_cast<const PrivateTable*>(table)->sink, std::memory_order_release);
}

// -finstrument-functions: of all functions, most of which are nobody's calls.
extern "C" {

__attribute__((no_instrument_function, visibility("hidden"))) void __cyg_profile_func_enter(void* function, void*) {
  const ActivitySink* sink = Sink();
  if (__builtin_expect(sink != nullptr, 0)) sink->entered(function, __builtin_frame_address(0));
}

__attribute__((no_instrument_function, visibility("hidden"))) void __cyg_profile_func_exit(void* function, void*) {
  const ActivitySink* sink = Sink();
  if (__builtin_expect(sink != nullptr, 0)) sink->left(function);
}

}  // extern "C"

}  // namespace vramtrack::simcuda
