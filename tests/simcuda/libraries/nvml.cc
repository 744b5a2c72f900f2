// SPDX-License-Identifier: Apache-2.0
// libnvidia-ml.so.1: which devices there are. PyTorch loads it for the text of its out-of-memory error, and since 2.15
// asks it for the fabric at the first expandable segment, without looking whether it was found.
#include <cstdint>
#include <cstdio>
#include <cstring>

#include "tests/simcuda/device/options.h"

namespace {

using vramtrack::simcuda::GetOptions;

constexpr int kInvalidArgument = 2, kNotSupported = 3, kNotFound = 6;
constexpr uintptr_t kFirstHandle = 0x3000;

// Buses are numbered from 1 on, as the driver's cuDeviceGetPCIBusId says.
int HandleOfBus(unsigned bus, void** handle) {
  if (bus < 1 || bus > static_cast<unsigned>(GetOptions().devices)) return kNotFound;
  *handle = reinterpret_cast<void*>(kFirstHandle + bus - 1);
  return 0;
}

unsigned IndexOf(const void* handle) {
  return static_cast<unsigned>(reinterpret_cast<uintptr_t>(handle) - kFirstHandle);
}

}  // namespace

extern "C" {

const char* nvmlErrorString(int) { return "status of the simulated NVML"; }

int nvmlDeviceGetCount_v2(unsigned* count) {
  *count = static_cast<unsigned>(GetOptions().devices);
  return 0;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** handle) { return HandleOfBus(index + 1, handle); }

int nvmlDeviceGetHandleByPciBusId_v2(const char* text, void** handle) {
  unsigned domain, bus;
  return sscanf(text, "%x:%x", &domain, &bus) == 2 ? HandleOfBus(bus, handle) : kInvalidArgument;
}

int nvmlDeviceGetHandleByUUID(const char*, void** handle) { return HandleOfBus(1, handle); }

int nvmlDeviceGetUUID(const void* handle, char* text, unsigned size) {
  snprintf(text, size, "GPU-73696d75-6c61-7465-6420-47505500%04x", IndexOf(handle));
  return 0;
}

int nvmlDeviceGetName(const void*, char* text, unsigned size) {
  snprintf(text, size, "Simulated GPU");
  return 0;
}

int nvmlDeviceGetComputeRunningProcesses(const void*, unsigned* count, void*) {
  *count = 0;
  return 0;
}

int nvmlDeviceGetComputeRunningProcesses_v3(const void* handle, unsigned* count, void* processes) {
  return nvmlDeviceGetComputeRunningProcesses(handle, count, processes);
}

int nvmlSystemGetDriverVersion(char* text, unsigned size) {
  snprintf(text, size, "0.0-simulated");
  return 0;
}

int nvmlSystemGetCudaDriverVersion_v2(int* version) {
  *version = GetOptions().driver_version != 0 ? GetOptions().driver_version : 13000;
  return 0;
}

// State 0, not supported, of an answer of which only the version comes from the caller. Anything but success makes
// PyTorch warn.
int nvmlDeviceGetGpuFabricInfoV(const void*, void* info) {
  memset(static_cast<char*>(info) + sizeof(unsigned), 0, 32);
  return 0;
}

int nvmlDeviceGetNvLinkRemoteDeviceType(const void*, unsigned, void*) { return kNotSupported; }
int nvmlDeviceGetNvLinkRemotePciInfo_v2(const void*, unsigned, void*) { return kNotSupported; }
int nvmlDeviceGetP2PStatus(const void*, const void*, int, int*) { return kNotSupported; }

}  // extern "C"
