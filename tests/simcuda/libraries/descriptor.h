// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_SIMCUDA_LIBRARIES_DESCRIPTOR_H_
#define TESTS_SIMCUDA_LIBRARIES_DESCRIPTOR_H_

namespace vramtrack::simcuda {

// An object that a program gets from a library and passes back without reading it: a descriptor, a plan, a program. The
// library's headers are not installed, so functions that use such objects are declared with untyped pointers here. All
// pointers are passed in the same way.
struct Descriptor {};

inline int Create(void** descriptor) {
  *descriptor = new Descriptor;
  return 0;
}

inline int Destroy(void* descriptor) {
  delete static_cast<Descriptor*>(descriptor);
  return 0;
}

}  // namespace vramtrack::simcuda

#endif  // TESTS_SIMCUDA_LIBRARIES_DESCRIPTOR_H_
