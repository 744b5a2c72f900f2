// SPDX-License-Identifier: Apache-2.0
#include "interpose/hooks/table/current_device.h"

#include <atomic>
#include <cstring>

#include "interpose/base/concurrent_table.h"
#include "interpose/hooks/table/call.h"
#include "interpose/session/session.h"

namespace vramtrack {
namespace {

ConcurrentTable contexts;    // context to 1 + device
ConcurrentTable greens;      // the same for green contexts, and for the contexts that were made of them
ConcurrentTable host_pools;  // pools whose memory is the host's
std::atomic<bool> any_host_pool{false};
std::atomic<uint64_t> primary_contexts[kDeviceNumbers];
std::atomic<uint32_t> context_counts[kDeviceNumbers];

}  // namespace

void SetCurrentContext(uint64_t context) {
  if (context == 0) return;
  uint64_t device = contexts.Find(context);
  if (device == 0) device = greens.Find(context);
  if (device != 0) thread_state.device = static_cast<uint32_t>(device - 1);
}

void PushCurrentContext(uint64_t context) {
  thread_state.pushed.Push(thread_state.device);
  SetCurrentContext(context);
}

void PopCurrentContext() { thread_state.pushed.Pop(&thread_state.device); }

void NoteContext(uint64_t context, int device) {
  if (context == 0 || !IsDeviceNumber(device)) return;
  uint64_t before = 0;
  contexts.Insert(context, static_cast<uint64_t>(device) + 1, &before);
  if (before == 0) context_counts[device].fetch_add(1, std::memory_order_relaxed);
}

uint64_t NewGreenContext(uint64_t green, int device) {
  if (green != 0 && IsDeviceNumber(device)) greens.Insert(green, static_cast<uint64_t>(device) + 1);
  return green;
}

void NoteContextOfGreen(uint64_t context, uint64_t green) {
  const uint64_t device = green != 0 ? greens.Find(green) : 0;
  if (context != 0 && device != 0) greens.Insert(context, device);
}

uint64_t PrimaryContextOf(int device) {
  return IsDeviceNumber(device) ? primary_contexts[device].load(std::memory_order_relaxed) : 0;
}

void NotePrimaryContext(uint64_t context, int device) {
  NoteContext(context, device);
  if (IsDeviceNumber(device)) primary_contexts[device].store(context, std::memory_order_relaxed);
}

int CountPrimaryOwners(int device, int more) {
  static std::atomic<int> owners[kDeviceNumbers] = {};
  return IsDeviceNumber(device) ? owners[device].fetch_add(more) + more : 1;
}

int ForgetContext(uint64_t context) {
  const uint64_t known = contexts.Remove(context);
  if (known == 0) return -1;
  const int device = static_cast<int>(known - 1);
  return context_counts[device].fetch_sub(1, std::memory_order_relaxed) == 1 ? device : -1;
}

int DeviceOf(const cuda::AllocationProp* properties) {
  if (properties == nullptr) return kCurrentDevice;
  return properties->location.type == cuda::kLocationDevice ? properties->location.id : kHostMemory;
}

uint64_t NewPool(uint64_t pool, const cuda::MemPoolProps* properties) {
  if (pool != 0 && properties != nullptr && properties->location.type > cuda::kLocationDevice) {
    host_pools.Insert(pool, 1);
    any_host_pool.store(true, std::memory_order_relaxed);
  }
  return pool;
}

int PoolLocation(uint64_t pool) {
  return any_host_pool.load(std::memory_order_relaxed) && host_pools.Find(pool) != 0 ? kHostMemory : kCurrentDevice;
}

namespace {

struct Facts {
  std::atomic<int> name_state;  // 0 none, 1 being written, 2 there
  char name[128];
  std::atomic<size_t> total_bytes;
  std::atomic<bool> integrated;
};
constexpr int kMaxDevices = 16;
Facts facts[kMaxDevices];

}  // namespace

void NoteDeviceName(int device, const char* name, int capacity) {
  if (device < 0 || device >= kMaxDevices || name == nullptr || capacity <= 0) return;
  Facts& known = facts[device];
  int state = 0;
  if (!known.name_state.compare_exchange_strong(state, 1)) return;
  const size_t length = strnlen(name, static_cast<size_t>(capacity));
  std::memcpy(known.name, name, length < sizeof known.name ? length : sizeof known.name - 1);
  known.name_state.store(2, std::memory_order_release);
}

void NoteDeviceTotal(int device, size_t bytes) {
  if (device >= 0 && device < kMaxDevices) facts[device].total_bytes.store(bytes, std::memory_order_relaxed);
}

bool IsIntegrated(uint32_t device) {
  return device < kMaxDevices && facts[device].integrated.load(std::memory_order_relaxed);
}

void NoteDeviceAttribute(int device, int attribute, int value) {
  if (attribute != cuda::kDeviceIntegrated || value == 0 || device < 0 || device >= kMaxDevices) return;
  if (facts[device].integrated.exchange(true, std::memory_order_relaxed) || Session::Running() == nullptr) return;
  Call call(kQueries);
  if (call.active()) DefineKnownDevices(&call);
}

void DefineKnownDevices(Call* call) {
  for (int device = 0; device < kMaxDevices; ++device) {
    const Facts& known = facts[device];
    const size_t total = known.total_bytes.load(std::memory_order_relaxed);
    const bool named = known.name_state.load(std::memory_order_acquire) == 2;
    const auto index = static_cast<uint32_t>(device);
    const bool integrated = IsIntegrated(index);
    if (total == 0 && !named && !integrated) continue;
    bool first = (named || total != 0) && call->FirstReportOf(index, named ? DeviceFact::kName : DeviceFact::kSize);
    if (integrated && call->FirstReportOf(index, DeviceFact::kIntegrated)) first = true;
    if (first) call->DefineDevice(index, named ? known.name : "", total);
  }
}

}  // namespace vramtrack
