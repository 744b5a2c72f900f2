// SPDX-License-Identifier: Apache-2.0
#include "interpose/hooks/table/device_facts.h"

#include <atomic>
#include <cstring>

#include "interpose/hooks/table/call.h"

namespace vramtrack {
namespace {

struct Facts {
  std::atomic<int> name_state;  // 0 none, 1 being written, 2 there
  char name[128];
  std::atomic<size_t> total_bytes;
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

void DefineKnownDevices(Call* call) {
  for (int device = 0; device < kMaxDevices; ++device) {
    const Facts& known = facts[device];
    const size_t total = known.total_bytes.load(std::memory_order_relaxed);
    const bool named = known.name_state.load(std::memory_order_acquire) == 2;
    if (total == 0 && !named) continue;
    const auto index = static_cast<uint32_t>(device);
    if (call->FirstReportOf(index, !named)) call->DefineDevice(index, named ? known.name : "", total);
  }
}

}  // namespace vramtrack
