// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_SIMCUPTI_OWNER_H_
#define TESTS_SIMCUPTI_OWNER_H_

namespace vramtrack::simcupti {

// The path of the library whose call led here, past those of CUDA and the tracer's. It stays.
const char* OwnerOfCall();

}  // namespace vramtrack::simcupti

#endif  // TESTS_SIMCUPTI_OWNER_H_
