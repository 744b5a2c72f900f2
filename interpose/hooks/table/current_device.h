// SPDX-License-Identifier: Apache-2.0
//
// Which device the calling thread's calls are for, as far as the calls that were seen tell: the runtime names a device,
// the driver a context. Nothing here is a reason to begin recording, and nothing calls CUDA.
#ifndef INTERPOSE_HOOKS_TABLE_CURRENT_DEVICE_H_
#define INTERPOSE_HOOKS_TABLE_CURRENT_DEVICE_H_

#include <cstddef>
#include <cstdint>

#include "interpose/hooks/table/cuda_abi.h"
#include "interpose/session/session.h"

namespace vramtrack {

constexpr int kDeviceNumbers = 256;  // an event has a byte for it
constexpr bool IsDeviceNumber(int device) { return device >= 0 && device < kDeviceNumbers; }

// Of the calling thread. Signal-safe.
inline void SetCurrentDevice(int device) {
  thread_state.device = IsDeviceNumber(device) ? static_cast<uint32_t>(device) : 0;
}
void SetCurrentContext(uint64_t context);
void PushCurrentContext(uint64_t context);
void PopCurrentContext();

// Contexts and their devices. Thread-safe.
void NoteContext(uint64_t context, int device);
// The device's primary context, 0 for none known.
uint64_t PrimaryContextOf(int device);
void NotePrimaryContext(uint64_t context, int device);
// Counts the owners of a device's primary context, which any threads may take and give up at the same time: to be
// called before it is asked for (or afterwards, if that failed: `more` -1) and after it was given up. Returns how many
// are left, those that are asking included: at 0 the context is gone.
int CountPrimaryOwners(int device, int more);
// Forgets a context that is gone. Its device, or -1 where the context is not known or another one of the device is
// left.
int ForgetContext(uint64_t context);

// What allocations "on" may be instead of a device.
constexpr int kCurrentDevice = -1;
constexpr int kHostMemory = -2;

// Where cuMemCreate puts its memory.
int DeviceOf(const cuda::AllocationProp* properties);
// Returns `pool`, having noted where its memory lies.
uint64_t NewPool(uint64_t pool, const cuda::MemPoolProps* properties);
int PoolLocation(uint64_t pool);

// What the driver told of devices before there was a reason to record: a program that only asks how many devices there
// are writes no trace.

class Call;

// Thread-safe. Only the first 16 devices.
void NoteDeviceName(int device, const char* name, int capacity);
void NoteDeviceTotal(int device, size_t bytes);

// Defines in the trace what is known and has not been defined yet.
void DefineKnownDevices(Call* call);

}  // namespace vramtrack

#endif  // INTERPOSE_HOOKS_TABLE_CURRENT_DEVICE_H_
