// SPDX-License-Identifier: Apache-2.0
#include "interpose/frameworks/allocator.h"

#include <atomic>
#include <cstring>

#include "interpose/base/spin_lock.h"
#include "interpose/session/environment.h"

namespace vramtrack {
namespace {

struct Known {
  std::atomic<const void*> allocator;
  std::atomic<int> device;
  std::atomic<const Session*> defined_in;  // a forked child has a trace of its own
  const char* framework;
  bool by_handle;
  char name[Allocators::kNameBytes];
};

constexpr size_t kMost = 64;
Known known[kMost];
std::atomic<size_t> known_count;
SpinLock learning;

Known* Find(const void* allocator) {
  const size_t count = known_count.load(std::memory_order_acquire);
  for (size_t i = 0; i < count; ++i) {
    if (known[i].allocator.load(std::memory_order_acquire) == allocator) return &known[i];
  }
  return nullptr;
}

}  // namespace

int Allocators::DeviceOf(const void* allocator) {
  const Known* found = Find(allocator);
  return found == nullptr ? kUnknown : found->device.load(std::memory_order_relaxed);
}

void Allocators::Learn(const void* allocator, const char* framework, const char* name, int device, bool by_handle) {
  if (!learning.Lock()) return;
  Known* at = Find(nullptr);
  const size_t count = known_count.load(std::memory_order_relaxed);
  const bool appended = at == nullptr && count < kMost;
  if (appended) at = &known[count];
  if (at != nullptr) {
    at->framework = framework;
    at->by_handle = by_handle;
    strncpy(at->name, name, sizeof at->name - 1);
    at->device.store(device, std::memory_order_relaxed);
    at->defined_in.store(nullptr, std::memory_order_relaxed);
    at->allocator.store(allocator, std::memory_order_release);
    if (appended) known_count.store(count + 1, std::memory_order_release);
  }
  learning.Unlock();
}

void Allocators::Forget(const void* allocator) {
  if (Known* found = Find(allocator)) found->allocator.store(nullptr, std::memory_order_release);
}

void Allocators::Define(const void* allocator, Call* call) {
  Known* found = Find(allocator);
  if (found == nullptr || found->defined_in.load(std::memory_order_relaxed) == call->session()) return;
  found->defined_in.store(call->session(), std::memory_order_relaxed);
  const auto device = static_cast<uint32_t>(found->device.load(std::memory_order_relaxed));
  call->writer()->Define<kNameBytes + 128>(schema::definitions_field::allocators, [&](MessageWriter* out) {
    out->String(schema::allocator_field::framework, found->framework);
    out->String(schema::allocator_field::name, found->name);
    out->Varint(schema::allocator_field::device, device);
    out->Varint(schema::allocator_field::by_handle, found->by_handle);
  });
  if (device == kHostAsDevice) call->DefineDevice(device, "memory of the host, not of a device", 0);
}

bool RecordsHostMemory() {
  const Environment* start = Environment::AtStart();
  const char* value = start == nullptr ? nullptr : start->Find("VRAMTRACK_CPU_FRAMEWORKS");
  return value != nullptr && strcmp(value, "1") == 0;
}

}  // namespace vramtrack
