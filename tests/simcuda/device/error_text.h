// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_SIMCUDA_DEVICE_ERROR_TEXT_H_
#define TESTS_SIMCUDA_DEVICE_ERROR_TEXT_H_

namespace vramtrack::simcuda {

// Returns the text of an error code, never nullptr. Runtime and driver use the same numbers.
const char* ErrorText(int code);

}  // namespace vramtrack::simcuda

#endif  // TESTS_SIMCUDA_DEVICE_ERROR_TEXT_H_
