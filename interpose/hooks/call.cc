// SPDX-License-Identifier: Apache-2.0
#include "interpose/hooks/call.h"

#include <cstring>

#include "interpose/stacks/native_stack.h"
#include "proto/message_writer.h"

namespace vramtrack {
namespace {

// Addresses and handles of different kinds may coincide. One space holds all that cudaFree, cudaFreeAsync and
// cudaIpcCloseMemHandle free.
uint64_t KeyOf(schema::Kind kind, uint64_t address) {
  uint64_t space = kind;
  switch (kind) {
    case schema::DEVICE:
    case schema::PITCHED:
    case schema::MANAGED:
    case schema::STREAM_ORDERED:
    case schema::POOL:
    case schema::IPC_MAPPING:
      space = schema::DEVICE;
      break;
    default:
      break;
  }
  return address << 6 | space;
}

constexpr int kOrdinalBits = 40;
constexpr uint64_t kLiveBit = uint64_t{1} << 63;  // an identity is never 0

uint64_t Identity(uint32_t thread, uint64_t ordinal) {
  return kLiveBit | static_cast<uint64_t>(thread) << kOrdinalBits | ordinal;
}
uint32_t ThreadOf(uint64_t identity) { return static_cast<uint32_t>((identity & ~kLiveBit) >> kOrdinalBits); }
uint64_t OrdinalOf(uint64_t identity) { return identity & ((uint64_t{1} << kOrdinalBits) - 1); }

}  // namespace

void Call::Nested() {
  if (Session* session = Session::Running()) {
    session->file().counter(schema::COUNTER_NESTED_CALLS)->fetch_add(1, std::memory_order_relaxed);
  }
}

void Call::Lost() {
  session_->file().counter(schema::COUNTER_LOST_EVENTS)->fetch_add(1, std::memory_order_relaxed);
  session_->ReportIfStopped();
}

void Call::CaptureStack() {
  if (!session_->options().native_stacks) return;
  NativeStack stack;
  CaptureNativeStack(session_->options().max_frames, &stack);
  stack_ = session_->stacks().Intern(stack, &session_->modules(), lane_);
}

void Call::Allocated(schema::Kind kind, uint64_t address, uint64_t bytes, uint64_t stream) {
  if (address == 0) return;
  const uint64_t ordinal = lane_->next_allocation();
  const uint64_t identity = Identity(lane_->thread(), ordinal);
  uint64_t before = 0;
  if (!session_->live().Insert(KeyOf(kind, address), identity, &before)) {
    session_->file().counter(schema::COUNTER_TABLE_FULL)->fetch_add(1, std::memory_order_relaxed);
  }
  // The address was still taken: it was freed in a way that is not seen.
  if (__builtin_expect(before != 0, 0)) {
    lane_->Event(schema::FREE, kind, thread_.device, 0, ThreadOf(before), OrdinalOf(before));
  }
  Check(lane_->Allocation(kind, thread_.device, stack_, address, bytes, stream));
}

void Call::Failed(schema::Kind kind, cuda::Error error, uint64_t bytes) {
  Check(lane_->Event(schema::FAIL, kind, thread_.device, 0, stack_, static_cast<uint64_t>(error), bytes));
}

void Call::Freeing(schema::Kind kind, uint64_t address, uint64_t stream) {
  if (address == 0) return;
  freed_key_ = KeyOf(kind, address);
  freed_identity_ = session_->live().Remove(freed_key_);
  if (freed_identity_ == 0) {
    Check(lane_->Event(schema::FREE_UNKNOWN, kind, thread_.device, 0, 0, address));
    return;
  }
  const uint32_t owner = ThreadOf(freed_identity_);
  const uint64_t ordinal = OrdinalOf(freed_identity_);
  Check(stream == 0 ? lane_->Event(schema::FREE, kind, thread_.device, 0, owner, ordinal)
                    : lane_->Event(schema::FREE, kind, thread_.device, kHasStream, owner, ordinal, stream));
}

void Call::FreeFailed(cuda::Error error) {
  if (freed_identity_ == 0) return;
  session_->live().Insert(freed_key_, freed_identity_);
  Check(lane_->Event(schema::FREE_FAILED, 0, thread_.device, 0, 0, static_cast<uint64_t>(error)));
}

void Call::DeviceReset() { Check(lane_->Event(schema::DEVICE_RESET, 0, thread_.device, 0, 0)); }

void Call::MemoryInfo(const size_t* free, const size_t* total) {
  if (free == nullptr || total == nullptr) return;
  if (session_->FirstReportOf(thread_.device, true)) DefineDevice(thread_.device, "", *total);
  Check(lane_->Event(schema::MEMORY_INFO, 0, thread_.device, 0, 0, *free, *total));
}

void Call::Properties(const cuda::DeviceProp* properties, int device) {
  if (properties == nullptr || device < 0) return;
  const auto index = static_cast<uint32_t>(device);
  if (session_->FirstReportOf(index, false)) DefineDevice(index, properties->name, properties->totalGlobalMem);
}

void Call::DefineDevice(uint32_t device, const char* name, uint64_t total_bytes) {
  uint8_t buffer[512];
  MessageWriter out(buffer, sizeof buffer);
  uint8_t* message = out.Begin(schema::definitions_field::devices);
  out.Varint(schema::device_field::index, device);
  if (const size_t length = strnlen(name, sizeof(cuda::DeviceProp::name))) {
    out.Bytes(schema::device_field::name, name, length);
  }
  out.Fixed64(schema::device_field::total_bytes, total_bytes);
  out.End(message);
  lane_->DefineEncoded(buffer, out.size());
}

void Call::Version(const char* of, const int* number) {
  if (number == nullptr) return;
  uint8_t buffer[64];
  MessageWriter out(buffer, sizeof buffer);
  uint8_t* message = out.Begin(schema::definitions_field::versions);
  out.String(schema::version_field::of, of);
  out.Varint(schema::version_field::number, static_cast<uint64_t>(*number));
  out.End(message);
  lane_->DefineEncoded(buffer, out.size());
}

void Call::Step(uint64_t number, double value) {
  uint64_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  Check(lane_->Event(schema::STEP, 0, thread_.device, 0, 0, number, bits));
}

}  // namespace vramtrack
