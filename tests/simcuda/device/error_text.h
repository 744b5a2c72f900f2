// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_SIMCUDA_DEVICE_ERROR_TEXT_H_
#define TESTS_SIMCUDA_DEVICE_ERROR_TEXT_H_

namespace vramtrack::simcuda {

// What an error code means; runtime and driver use the same numbers. Never nullptr.
const char* ErrorText(int code);

}  // namespace vramtrack::simcuda

#endif  // TESTS_SIMCUDA_DEVICE_ERROR_TEXT_H_
