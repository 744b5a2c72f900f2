// SPDX-License-Identifier: Apache-2.0
//
// What the driver told of devices before there was a reason to record: a program that only asks how many devices there
// are writes no trace.
#ifndef INTERPOSE_HOOKS_TABLE_DEVICE_FACTS_H_
#define INTERPOSE_HOOKS_TABLE_DEVICE_FACTS_H_

#include <cstddef>

namespace vramtrack {

class Call;

// Thread-safe. Only the first 16 devices.
void NoteDeviceName(int device, const char* name, int capacity);
void NoteDeviceTotal(int device, size_t bytes);

// Defines in the trace what is known and has not been defined yet.
void DefineKnownDevices(Call* call);

}  // namespace vramtrack

#endif  // INTERPOSE_HOOKS_TABLE_DEVICE_FACTS_H_
