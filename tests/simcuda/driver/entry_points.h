// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_SIMCUDA_DRIVER_ENTRY_POINTS_H_
#define TESTS_SIMCUDA_DRIVER_ENTRY_POINTS_H_

// The simulated runtime finds the functions of the simulated driver through this one, which it looks up once. So, as
// with NVIDIA's, what the runtime asks of the driver passes no symbol that another library could take over. Takes the
// full name, "cuMemAlloc_v2"; nullptr if there is none.
extern "C" void* simcuda_find_symbol(const char* name);

#endif  // TESTS_SIMCUDA_DRIVER_ENTRY_POINTS_H_
