// SPDX-License-Identifier: Apache-2.0
#include "tests/simcuda/device/device.h"

#include <pthread.h>

#include <cinttypes>
#include <cstdlib>

#include "tests/simcuda/device/clock.h"
#include "tests/simcuda/device/host_memory.h"
#include "tests/simcuda/device/log.h"
#include "tests/simcuda/device/options.h"
#include "tests/simcuda/device/virtual_memory.h"

namespace vramtrack::simcuda {
namespace {

uint64_t Total(Counter counter) { return counters[static_cast<int>(counter)].load(); }

void Print() {
  if (IsForkedChild()) return;
  LogLine("%" PRIu64 " allocations, %" PRIu64 " frees, %" PRIu64 " out of memory, %" PRIu64 " launches, %" PRIu64
          " copies, %" PRIu64 " fills, %" PRIu64 " synchronizations, %" PRIu64 " maps, %" PRIu64 " unmaps",
          Total(Counter::kAllocation), Total(Counter::kFree), Total(Counter::kOutOfMemory), Total(Counter::kLaunch),
          Total(Counter::kCopy), Total(Counter::kFill), Total(Counter::kSynchronize), Total(Counter::kMap),
          Total(Counter::kUnmap));
  for (int ordinal = 0; ordinal < DeviceCount(); ++ordinal) {
    DeviceMemory& memory = GetDevice(ordinal).memory;
    size_t count = 0, bytes = 0;
    memory.ForEachAllocation([&](char*, size_t size) {
      ++count;
      bytes += size;
    });
    LogLine("device %d: %zu of %zu bytes in use; %zu linear allocations of %zu bytes", ordinal, memory.used_bytes(),
            memory.total_bytes(), count, bytes);
  }
}

// With SIMCUDA_STATS=1: what was called how often, and what each device still holds, on stderr when the process exits.
void PrintStatisticsAtExit() {
  if (GetOptions().stats) atexit(Print);
}

std::atomic<bool> used{false};
std::atomic<bool> forked_child{false};

struct Slot {
  std::once_flag once;
  std::atomic<Device*> device{nullptr};
};
Slot slots[64];

void MakeDevice(int ordinal) {
  if (!used.exchange(true)) {
    pthread_atfork(nullptr, nullptr, [] { forked_child = true; });
    PrintStatisticsAtExit();
  }
  slots[ordinal].device = new Device(ordinal);  // not destroyed: programs free memory in their own destructors
}

}  // namespace

Context::Context(Device* device, unsigned flags, uint64_t id)
    : device(device),
      flags(flags),
      id(id),
      legacy_stream(this, 0, 0, NextId()),
      per_thread_stream(this, 1, 0, NextId()) {}

Device::Device(int ordinal)
    : ordinal(ordinal),
      memory(ordinal, GetOptions().memory_bytes, GetOptions().backed),
      default_pool_(ordinal, &memory, 0),
      current_pool_(&default_pool_) {}

Context* Device::RetainPrimary() {
  std::lock_guard<std::mutex> lock(mutex_);
  if (primary_ == nullptr) primary_ = new Context(this, primary_flags, NextId());
  ++retained_;
  if (!active_) {
    active_ = true;
    primary_->flags = primary_flags.load();
    if (GetOptions().context_bytes != 0) {
      const size_t pages = (GetOptions().context_bytes + kPageBytes - 1) / kPageBytes;
      primary_->memory = memory.TakePages(pages, PageUse::kContext, primary_);
    }
  }
  return primary_;
}

bool Device::ReleasePrimary() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (retained_ == 0) return false;
    if (--retained_ != 0) return true;
  }
  ResetPrimary();
  return true;
}

bool Device::primary_active() {
  std::lock_guard<std::mutex> lock(mutex_);
  return active_;
}

void Device::ResetPrimary() {
  std::lock_guard<std::mutex> lock(mutex_);
  if (!active_) return;
  active_ = false;
  memory.FreeAll();
  default_pool_.Clear();
  for (MemoryPool* pool : pools_) pool->Clear();
  current_pool_ = &default_pool_;
  HostMemory::Get().FreeAllOf(ordinal);
  ReleaseContextMemory();
  graph_used = 0;
  graph_reserved = 0;
  peers = 0;
}

void Device::ReleaseContextMemory() {
  if (primary_->memory != nullptr) memory.ReturnPages(primary_->memory);
  primary_->memory = nullptr;
}

void Device::AddPool(MemoryPool* pool) {
  std::lock_guard<std::mutex> lock(mutex_);
  pools_.insert(pool);
}

void Device::RemovePool(MemoryPool* pool) {
  std::lock_guard<std::mutex> lock(mutex_);
  pools_.erase(pool);
  if (current_pool_ == pool) current_pool_ = &default_pool_;
}

void Device::Synchronize() {
  Count(Counter::kSynchronize);
  const int64_t until = busy_until_ns.load(std::memory_order_relaxed);
  if (until != 0) SleepUntilNs(until);
  TrimPools();
}

void Device::TrimPools() {
  default_pool_.Synchronized();
  std::lock_guard<std::mutex> lock(mutex_);
  for (MemoryPool* pool : pools_) pool->Synchronized();
}

int DeviceCount() { return GetOptions().devices; }

Device& GetDevice(int ordinal) {
  Device* device = slots[ordinal].device.load(std::memory_order_acquire);
  if (device != nullptr) return *device;
  std::call_once(slots[ordinal].once, MakeDevice, ordinal);
  return *slots[ordinal].device.load(std::memory_order_acquire);
}

Device* DeviceOf(const void* address) {
  for (int ordinal = 0; ordinal < DeviceCount(); ++ordinal) {
    Device* device = slots[ordinal].device.load(std::memory_order_acquire);
    if (device != nullptr && device->memory.Contains(address)) return device;
  }
  return nullptr;
}

bool IsForkedChild() { return forked_child.load(std::memory_order_relaxed); }

uint64_t NextId() {
  static std::atomic<uint64_t> next{0};
  return next.fetch_add(1) + 1;
}

PointerInfo Describe(const void* address) {
  PointerInfo info;
  if (Device* device = DeviceOf(address)) {
    DeviceMemory::Range range;
    if (!device->memory.Find(address, &range)) return info;
    if (range.use == PageUse::kPool) {
      MemoryPool* pool = static_cast<MemoryPool*>(range.owner);
      if (!pool->Find(address, &info.base, &info.bytes)) return info;
      info.pool = pool;
    } else if (range.use == PageUse::kSmall || range.use == PageUse::kLinear) {
      info.base = range.base;
      info.bytes = range.bytes;
    } else {
      return info;
    }
    info.kind = PointerInfo::Kind::kDevice;
    info.device = device->ordinal;
    return info;
  }
  VirtualMemory::Mapping mapping;
  if (VirtualMemory::Get().FindMapping(address, &mapping)) {
    info.kind = PointerInfo::Kind::kDevice;
    info.device = mapping.device;
    info.base = mapping.base;
    info.bytes = mapping.bytes;
    info.mapped = true;
    return info;
  }
  HostMemory::Range host;
  if (HostMemory::Get().Find(address, &host)) {
    info.kind = host.kind == HostMemory::Kind::kPinned       ? PointerInfo::Kind::kPinned
                : host.kind == HostMemory::Kind::kRegistered ? PointerInfo::Kind::kRegistered
                                                             : PointerInfo::Kind::kManaged;
    info.device = host.device;
    info.base = host.base;
    info.bytes = host.bytes;
    info.flags = host.flags;
  }
  return info;
}

}  // namespace vramtrack::simcuda
