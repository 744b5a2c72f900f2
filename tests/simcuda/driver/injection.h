// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_SIMCUDA_DRIVER_INJECTION_H_
#define TESTS_SIMCUDA_DRIVER_INJECTION_H_

namespace vramtrack::simcuda {

// Loads the library that CUDA_INJECTION64_PATH names and calls its `int InitializeInjection(void)`, at the first call
// in the process. What cannot be loaded, or says that it failed, is left aside: the program goes on.
void LoadInjectedLibrary();

}  // namespace vramtrack::simcuda

#endif  // TESTS_SIMCUDA_DRIVER_INJECTION_H_
