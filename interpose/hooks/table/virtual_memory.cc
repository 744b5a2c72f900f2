// SPDX-License-Identifier: Apache-2.0
//
// What Call records of objects with several owners: memory handles, what is mapped or bound to multicast objects, and
// IPC mappings.
#include <atomic>
#include <cstdint>

#include "interpose/base/concurrent_table.h"
#include "interpose/hooks/table/call.h"
#include "interpose/hooks/table/current_device.h"
#include "interpose/hooks/table/live_key.h"

namespace vramtrack {
namespace {

// Counts the owners of objects. Thread-safe like ConcurrentTable: the program orders the calls for one key, as CUDA
// requires.
class References {
 public:
  // Adds an owner to an object that has at least one.
  void Retain(uint64_t key) { more_.Insert(key, more_.Find(key) + 1); }

  // Removes an owner. Returns false if it was the last one, so that the object ends.
  bool Release(uint64_t key) {
    const uint64_t more = more_.Find(key);
    if (more == 0) return false;
    if (more == 1) {
      more_.Remove(key);
    } else {
      more_.Insert(key, more - 1);
    }
    return true;
  }

  void Forget(uint64_t key) { more_.Remove(key); }

 private:
  ConcurrentTable more_;  // owners beyond the first
};
References references;

// Of each mapping, by its key: its bytes, which are whole pages, and the handle of its memory.
ConcurrentTable mapped_bytes, mapped_handles;
constexpr uint64_t kPageBytes = 4096;
constexpr uint64_t kOwnsMulticast = 1;  // added to the bytes
// 1 + the device of each memory handle, of the last memory that had it.
ConcurrentTable handle_devices;
// The bindings of each multicast object are a list: its last one by the object's handle, and the one before by each.
ConcurrentTable last_binding, binding_before;
constexpr uint64_t kNoBinding = 1;
std::atomic<uint64_t> bindings_made;

// Names what is bound to a multicast object, for the table of what is live. No address has its highest bit.
uint64_t BindingOf(uint64_t multicast, uint64_t offset, int device) {
  constexpr uint64_t kMark = uint64_t{1} << 57;
  uint64_t hash = multicast * 0x9e3779b97f4a7c15 + static_cast<uint64_t>(device + 1);
  hash = (hash ^ hash >> 29) * 0xd6e8feb86659fd93 + offset / kPageBytes;
  return ((hash ^ hash >> 32) * 0x9e3779b97f4a7c15) >> 7 | kMark;
}

// Returns the memory that is mapped at `address`, which need not be where the mapping begins; 0 if unknown.
uint64_t HandleAt(uint64_t address) {
  constexpr uint64_t kGranule = 2 << 20, kMostGranules = 1 << 16;  // of device memory; of a mapping
  uint64_t begin = address & ~(kGranule - 1);
  for (uint64_t i = 0; i < kMostGranules && begin != 0; ++i, begin -= kGranule) {
    if (const uint64_t bytes = mapped_bytes.Find(KeyOf(schema::MAPPING, begin))) {
      return address - begin < bytes ? mapped_handles.Find(KeyOf(schema::MAPPING, begin)) : 0;
    }
  }
  return 0;
}

}  // namespace

void Call::Retained(schema::Kind kind, uint64_t address) {
  if (address == 0) return;
  const uint64_t key = KeyOf(kind, address);
  const SpinLockHolder hold(&session_->retaining());
  if (session_->live().Find(key) != 0) {
    references.Retain(key);
    return;
  }
  references.Forget(key);
  Allocated(kind, address, 0, 0);
}

void Call::Releasing(schema::Kind kind, uint64_t address) {
  if (address == 0) return;
  const uint64_t key = KeyOf(kind, address);
  if (references.Release(key)) {
    released_ = true;
    freed_key_ = key;
    return;
  }
  Freeing(kind, address, 0);
}

void Call::KeepOwner(uint64_t key) { references.Retain(key); }

void Call::Mapped(uint64_t address, uint64_t bytes, uint64_t handle) {
  CaptureStack();
  const uint64_t key = KeyOf(schema::MAPPING, address);
  const bool is_multicast = last_binding.Find(handle) != 0;
  if (is_multicast) references.Retain(KeyOf(schema::MULTICAST, handle));
  mapped_bytes.Insert(key, bytes | (is_multicast ? kOwnsMulticast : 0));
  mapped_handles.Insert(key, handle);
  Allocated(schema::MAPPING, address, bytes, handle);
}

void Call::Unmapped(uint64_t address, uint64_t bytes) {
  MarkRelease();
  // The program alone decides what is mapped there next, so recording it afterwards mixes nothing up.
  for (const uint64_t end = address + bytes; address < end;) {
    const uint64_t key = KeyOf(schema::MAPPING, address);
    const uint64_t mapping = mapped_bytes.Remove(key), handle = mapped_handles.Remove(key);
    Freeing(schema::MAPPING, address, 0);
    if (mapping == 0) return;
    if ((mapping & kOwnsMulticast) != 0 && !references.Release(KeyOf(schema::MULTICAST, handle))) {
      Freeing(schema::MULTICAST, handle, 0);
      MemoryFreed();
    }
    address += mapping & ~kOwnsMulticast;
  }
}

uint64_t Call::NewMulticast(uint64_t handle) {
  last_binding.Insert(handle, kNoBinding);
  return handle;
}

uint64_t Call::NewMemory(uint64_t handle, const cuda::AllocationProp* properties) {
  const int device = DeviceOf(properties);
  if (handle != 0 && IsDeviceNumber(device)) handle_devices.Insert(handle, static_cast<uint64_t>(device) + 1);
  return handle;
}

void Call::Bound(uint64_t multicast, uint64_t offset, uint64_t handle, uint64_t bytes, int device) {
  if (handle == 0) return;  // of a pool: it has no handle
  CaptureStack();
  const uint64_t known = handle_devices.Find(handle);
  if (device < 0) device = known != 0 ? static_cast<int>(known) - 1 : static_cast<int>(thread_.device);
  const uint64_t binding = BindingOf(multicast, offset, device);
  {
    const SpinLockHolder hold(&session_->retaining());
    if (binding_before.Find(binding) == 0) {
      const uint64_t last = last_binding.Find(multicast);
      binding_before.Insert(binding, last == 0 ? kNoBinding : last);
      last_binding.Insert(multicast, binding);
    }
  }
  // Where no memory is mapped, and nothing was bound before.
  constexpr uint64_t kNowhere = uint64_t{1} << 55, kApart = 2 << 20;
  const uint64_t address = kNowhere + kApart * bindings_made.fetch_add(1, std::memory_order_relaxed);
  Allocated(schema::MAPPING, address, bytes, handle, device, binding);
}

void Call::BoundAddress(uint64_t multicast, uint64_t offset, uint64_t address, uint64_t bytes, int device) {
  Bound(multicast, offset, HandleAt(address), bytes, device);
}

void Call::Unbound(uint64_t multicast, uint64_t offset, int device) {
  const uint64_t binding = BindingOf(multicast, offset, device);
  if (IsAllocated(schema::MAPPING, binding)) Freeing(schema::MAPPING, binding, 0);
}

void Call::MemoryFreed() {
  if (freed_address_ == 0 || last_binding.Find(freed_address_) == 0) return;
  const SpinLockHolder hold(&session_->retaining());
  uint64_t binding = last_binding.Remove(freed_address_);
  while (binding > kNoBinding) {
    if (IsAllocated(schema::MAPPING, binding)) Freeing(schema::MAPPING, binding, 0);
    binding = binding_before.Remove(binding);
  }
}

}  // namespace vramtrack
