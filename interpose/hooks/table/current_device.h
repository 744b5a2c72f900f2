// SPDX-License-Identifier: Apache-2.0
//
// Tracks the device that the calling thread's calls are for, as far as hooked calls show it: the runtime names a
// device, the driver a context. Nothing here starts the recording or calls CUDA. PyTorch asks for the current device
// thousands of times a step; the answers tell something only where the calls that have set it were not seen.
#ifndef INTERPOSE_HOOKS_TABLE_CURRENT_DEVICE_H_
#define INTERPOSE_HOOKS_TABLE_CURRENT_DEVICE_H_

#include <cstddef>
#include <cstdint>

#include "interpose/hooks/table/cuda_abi.h"
#include "interpose/session/session.h"

namespace vramtrack {

constexpr int kDeviceNumbers = 256;  // an event stores the device in one byte
constexpr bool IsDeviceNumber(int device) { return device >= 0 && device < kDeviceNumbers; }

// These change the current device of the calling thread. Signal-safe.
inline void SetCurrentDevice(int device) {
  thread_state.device = IsDeviceNumber(device) ? static_cast<uint32_t>(device) : 0;
}
void SetCurrentContext(uint64_t context);
void PushCurrentContext(uint64_t context);
void PopCurrentContext();

// NoteContext notes the device of a context. Thread-safe.
void NoteContext(uint64_t context, int device);
// The same for a green context, which is returned, and for the context that cuCtxFromGreenCtx makes of one.
uint64_t NewGreenContext(uint64_t green, int device);
void NoteContextOfGreen(uint64_t context, uint64_t green);
// Returns the primary context of the device, 0 if unknown.
uint64_t PrimaryContextOf(int device);
void NotePrimaryContext(uint64_t context, int device);
// Adds `more` to the number of owners of a device's primary context, and returns the sum. Threads may retain and
// release the context at the same time. Call it with 1 before retaining the context, and with -1 after releasing it or
// if retaining failed. The sum includes threads that are retaining the context; at 0 the context no longer exists.
int CountPrimaryOwners(int device, int more);
// Forgets a context that was destroyed. Returns its device, or -1 if the context is unknown or the device has another
// context.
int ForgetContext(uint64_t context);

// Values of the parameter `on` of Call that are not devices.
constexpr int kCurrentDevice = -1;
constexpr int kHostMemory = -2;

// Returns the device on which cuMemCreate allocates, or kHostMemory; kCurrentDevice for null.
int DeviceOf(const cuda::AllocationProp* properties);
// NewPool notes whether the memory of a new pool is host memory, and returns `pool`. PoolLocation returns kHostMemory
// or kCurrentDevice.
uint64_t NewPool(uint64_t pool, const cuda::MemPoolProps* properties);
int PoolLocation(uint64_t pool);

// Properties of devices that the driver reported before recording began. They are kept until then, because a program
// that only queries its devices writes no trace.

class Call;

// Thread-safe. Only the first 16 devices are kept. `capacity` is the size of `name` in bytes; `bytes` is the total
// memory.
void NoteDeviceName(int device, const char* name, int capacity);
void NoteDeviceTotal(int device, size_t bytes);
// Keeps that the device's memory is the host's, and defines it in the trace if recording has begun. The runtime asks
// the driver for every attribute that cudaGetDeviceProperties and cudaDeviceGetAttribute return.
void NoteDeviceAttribute(int device, int attribute, int value);
bool IsIntegrated(uint32_t device);

// Defines the known devices in the trace that are not defined yet.
void DefineKnownDevices(Call* call);

}  // namespace vramtrack

#endif  // INTERPOSE_HOOKS_TABLE_CURRENT_DEVICE_H_
