// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_SIMCUDA_LIBRARIES_DESCRIPTOR_H_
#define TESTS_SIMCUDA_LIBRARIES_DESCRIPTOR_H_

namespace vramtrack::simcuda {

// What a program asks a library for and gives back unread: a descriptor, a plan, a program. Functions that use them are
// declared without types here, as the library's headers are not installed: pointers are all passed alike.
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
