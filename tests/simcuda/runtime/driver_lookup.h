// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_SIMCUDA_RUNTIME_DRIVER_LOOKUP_H_
#define TESTS_SIMCUDA_RUNTIME_DRIVER_LOOKUP_H_

namespace vramtrack::simcuda {

// Loads the driver and finds its functions, in the way and in the order that NVIDIA's runtimes have, shared and static
// alike: dlsym for the look-up function of the driver, then all functions at once through it, before cuInit. Happens at
// the first call; false if there is no driver or another one than the simulated.
bool LoadDriver();

// The driver's function of that full name, "cuMemAlloc_v2"; nullptr if there is none. After LoadDriver.
void* FindInDriver(const char* name);

}  // namespace vramtrack::simcuda

#endif  // TESTS_SIMCUDA_RUNTIME_DRIVER_LOOKUP_H_
