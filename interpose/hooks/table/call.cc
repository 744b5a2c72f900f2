// SPDX-License-Identifier: Apache-2.0
#include "interpose/hooks/table/call.h"

#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>
#include <initializer_list>

#include "interpose/hooks/table/captures.h"
#include "interpose/hooks/table/current_device.h"
#include "interpose/hooks/table/live_key.h"
#include "interpose/hooks/table/unseen.h"
#include "interpose/recorder/live_set.h"
#include "interpose/session/early_marks.h"
#include "interpose/session/mark_names.h"
#include "interpose/stacks/stack_table.h"
#include "proto/pool_setting.h"

namespace vramtrack {
namespace {

// Pools and memory with a handle may lie on the host.
schema::Kind KindOn(schema::Kind kind, int on) {
  if (__builtin_expect(on != kHostMemory, 1)) return kind;
  return kind == schema::POOL ? schema::HOST_POOL : schema::HOST_PHYSICAL;
}

// Whether virtual addresses were ever reserved: most programs never do.
std::atomic<bool> addresses_reserved{false};

}  // namespace

// Whether what covers this call is gone: a longjmp has left it without a return. The stack grows downwards.
bool Call::Stale(uint32_t family) {
  stack_t alternate;
  const bool outside = static_cast<const void*>(this) > thread_.innermost;
  if (outside && syscall(SYS_sigaltstack, nullptr, &alternate) == 0 && (alternate.ss_flags & SS_ONSTACK) == 0) {
    thread_.innermost = nullptr;
    thread_.covered = covered_ = 0;
    return true;
  }
  if (thread_.busy && family != kNoFamily) {
    if (Session* session = Session::Running()) {
      session->file().counter(schema::COUNTER_NESTED_CALLS)->fetch_add(1, std::memory_order_relaxed);
    }
  }
  session_ = nullptr;
  *thread_.error = saved_errno_;
  return false;
}

// The session has not begun, or it does not record now.
bool Call::Begin() {
  session_ = Session::Running();
  if (session_ == nullptr) {
    session_ = Session::Get();
    // The thread that starts the session has its writer from there.
    if (session_ != nullptr && thread_.session == session_ && (writer_ = thread_.writer) != nullptr) DefineKnown();
  }
  if (session_ != nullptr) session_ = Session::Recording(session_);
  if (session_ == nullptr) writer_ = nullptr;
  return session_ != nullptr;
}

void Call::Attach() {
  writer_ = session_->AttachThread();
  if (writer_ == nullptr) {
    session_->file().counter(schema::COUNTER_LOST_EVENTS)->fetch_add(1, std::memory_order_relaxed);
    session_->ReportIfStopped();
    return;
  }
  RecordEarlyMarks(session_, writer_);
  DefineKnown();
}

void Call::DefineKnown() {
  DefineUnseen(writer_);
  DefineKnownDevices(this);
}

// A thread's native stack ends where the Python frames go on. The two are read one after the other, so that nothing of
// Python is read where a signal handler may have interrupted the interpreter.
void Call::CaptureStack() {
  if (!session_->wants_stacks()) return;
  PythonStacks& python = session_->python();
  const uint64_t frame = python.Innermost(writer_);
  CaptureThread* const capture = thread_.capture;
  uint32_t native = 0, frames = 0;
  bool usual = true;
  if (capture != nullptr) {
    native = session_->captures().Take(capture, frame == 0 ? nullptr : python.interpreter_code(), writer_);
    usual = !capture->through_signal && !capture->modules_changed;
  }
  if (frame != 0 && usual) usual = (frames = python.TakeFrom(frame, writer_)) != 0;
  if (__builtin_expect(!usual, 0)) CaptureUnusual(frame, &native, &frames);
  const torch::CurrentNode node = session_->graph().Current();
  stack_ = JoinStacks(native, frames, node.forward, node.kind, &session_->stacks(), writer_);
}

// The module map has changed, the stack goes through a signal handler, or its Python frames could not be recorded.
void Call::CaptureUnusual(uint64_t frame, uint32_t* native, uint32_t* frames) {
  PythonStacks& python = session_->python();
  CaptureThread* const capture = thread_.capture;
  if (capture == nullptr) return;
  const auto take = [&](const CodeRange* last) {
    *native = session_->captures().Take(capture, last, writer_);
    capture->modules_changed = false;
  };
  if (capture->modules_changed && frame == 0) {
    // Code that nobody had met may be an interpreter's.
    frame = python.Innermost(writer_);
    if (frame != 0) take(python.interpreter_code());
  }
  if (frame != 0 && *frames == 0) {
    if (!capture->through_signal) *frames = python.TakeFrom(frame, writer_);
    if (*frames == 0 && !writer_->file().crowded()) take(nullptr);
  }
  capture->through_signal = capture->modules_changed = false;
}

// Whether what cudaMalloc gave out, or cudaFree is to free, begins a range of virtual addresses: then another library
// that replaces these functions made it, and its own calls are recorded.
bool Call::IsOfVirtualMemory(schema::Kind kind, uint64_t address) const {
  if (kind != schema::DEVICE && kind != schema::PITCHED && kind != schema::MANAGED) return false;
  return __builtin_expect(addresses_reserved.load(std::memory_order_relaxed), 0) &&
         session_->live().Find(KeyOf(schema::ADDRESS_RANGE, address)) != 0;
}

bool Call::IsAllocated(schema::Kind kind, uint64_t address) const {
  return session_->live().Find(KeyOf(kind, address)) != 0;
}

uint64_t Call::NumberOf(uint64_t address) const {
  // Device memory of all kinds has one key.
  for (const schema::Kind kind : {schema::FRAMEWORK_BLOCK, schema::DEVICE, schema::PINNED}) {
    const uint64_t packed = session_->live().Find(KeyOf(kind, address));
    if (packed != 0) return 1 + (packed & ~Identity::kUsedBit);
  }
  return 0;
}

__attribute__((always_inline)) inline void Call::RecordAllocation(schema::Kind kind, uint64_t address, uint64_t bytes,
                                                                  uint64_t stream, int on, uint64_t key,
                                                                  ConcurrentTable::Bucket* home) {
  const Identity identity = {writer_->thread(), writer_->next_allocation()};
  uint64_t before = 0;
  const bool inserted = session_->live().InsertAt(home, key, identity.packed(), &before);
  if (__builtin_expect(!inserted || before != 0, 0)) NoteReplaced(kind, before, on);
  Check(writer_->Allocation(kind, Device(on), stack_, address, bytes, stream));
}

void Call::Allocated(schema::Kind kind, uint64_t address, uint64_t bytes, uint64_t stream, int on, uint64_t handle) {
  if (address == 0 || IsOfVirtualMemory(kind, address)) return;
  if (kind == schema::ADDRESS_RANGE) addresses_reserved.store(true, std::memory_order_relaxed);
  kind = KindOn(kind, on);
  if ((kind == schema::DEVICE || kind == schema::PHYSICAL) && session_->has_framework()) {
    if (const uint64_t capture = CaptureOfNextSegment()) {
      kind = kind == schema::DEVICE ? schema::GRAPH_POOL : schema::GRAPH_POOL_PHYSICAL;
      stream = capture;
    }
  }
  const uint64_t key = KeyOf(kind, handle != 0 ? handle : address);
  RecordAllocation(kind, address, bytes, stream, on, key, session_->live().Prefetch(key));
}

// The address was still taken: it was freed in a way that is not seen. `before` is 0 where the table has no room.
void Call::NoteReplaced(schema::Kind kind, uint64_t before, int on) {
  if (before == 0) {
    session_->file().counter(schema::COUNTER_TABLE_FULL)->fetch_add(1, std::memory_order_relaxed);
    return;
  }
  const Identity freed = Identity::Of(before);
  writer_->Event(schema::FREE, kind, Device(on), 0, freed.thread, freed.ordinal);
}

void Call::BlockAllocated(uint64_t address, uint64_t bytes, int device) {
  if (address == 0) return;
  const uint64_t key = KeyOf(schema::FRAMEWORK_BLOCK, address);
  ConcurrentTable::Bucket* const home = session_->live().Prefetch(key);
  CaptureStack();
  RecordAllocation(schema::FRAMEWORK_BLOCK, address, bytes, 0, device, key, home);
}

void Call::Failed(schema::Kind kind, cuda::Error error, uint64_t bytes, int on) {
  kind = KindOn(kind, on);
  Check(writer_->Event(schema::FAIL, kind, Device(on), 0, stack_, static_cast<uint64_t>(error), bytes));
}

// A framework's allocator releases memory at a few places, and much at once: one mark says where for all that follow.
void Call::MarkRelease() {
  if (!session_->has_framework()) return;
  CaptureStack();
  if (stack_ == thread_.release_stack) return;
  thread_.release_stack = stack_;
  Check(writer_->Event(schema::MARK, schema::MARK_RELEASE, thread_.device, 0, stack_, uint64_t{0}, uint64_t{0}));
}

// Returns the identity of what is freed, 0 if it is unknown.
__attribute__((always_inline)) inline uint64_t Call::RecordFree(schema::Kind kind, uint64_t address, uint64_t key,
                                                                uint64_t stream, int on) {
  const uint64_t identity = session_->live().Remove(key);
  if (__builtin_expect(identity == 0, 0)) {
    NoteUnknownFree(kind, address, on);
    return 0;
  }
  const Identity freed = Identity::Of(identity);
  Check(__builtin_expect(stream == 0, 1)
            ? writer_->Event(schema::FREE, kind, Device(on), 0, freed.thread, freed.ordinal)
            : writer_->Event(schema::FREE, kind, Device(on), kHasStream, freed.thread, freed.ordinal, stream));
  return identity;
}

void Call::Freeing(schema::Kind kind, uint64_t address, uint64_t stream, int on) {
  if (address == 0 || IsOfVirtualMemory(kind, address)) return;
  if (kind == schema::DEVICE || kind == schema::PHYSICAL) MarkRelease();
  if (kind == schema::GRAPH) ForgetGraph(address);
  freed_address_ = address;
  freed_key_ = KeyOf(kind, address);
  freed_identity_ = RecordFree(kind, address, freed_key_, stream, on);
}

void Call::BlockFreed(uint64_t address, int device) {
  if (address == 0) return;
  RecordFree(schema::FRAMEWORK_BLOCK, address, KeyOf(schema::FRAMEWORK_BLOCK, address), 0, device);
}

void Call::NoteUnknownFree(schema::Kind kind, uint64_t address, int on) {
  Check(writer_->Event(schema::FREE_UNKNOWN, kind, Device(on), 0, 0, address));
}

void Call::FreeFailed(cuda::Error error) {
  if (released_) KeepOwner(freed_key_);
  const bool known = freed_identity_ != 0;
  if (known) {
    session_->live().Insert(freed_key_, freed_identity_);
    Check(writer_->Event(schema::FREE_FAILED, 0, thread_.device, 0, 0, static_cast<uint64_t>(error)));
  }
  // When a process ends, CUDA may be gone before its users are.
  constexpr cuda::Error kUnloading = 4;
  if (freed_address_ == 0 || error == kUnloading) return;
  Mark(schema::MARK_FREE_REFUSED, 0, static_cast<uint64_t>(error) << 1 | (known ? 0 : 1));
}

void Call::ContextFreed() {
  const int device = freed_address_ == 0 ? -1 : ForgetContext(freed_address_);
  if (device >= 0) DeviceReset(device);
}

void Call::NodeAdded(const void* parameters) {
  const auto* node = static_cast<const cuda::GraphNodeParams*>(parameters);
  if (node == nullptr) return;
  if (node->type == cuda::kMemAllocNode) {
    CaptureStack();
    const int device = node->alloc.poolProps.location.id;
    Allocated(schema::GRAPH_MEMORY, node->alloc.dptr, node->alloc.bytesize, 0, device);
  } else if (node->type == cuda::kMemFreeNode) {
    Freeing(schema::GRAPH_MEMORY, node->free, 0);
  }
}

void Call::PrimaryRetained(uint64_t context, int device) {
  NotePrimaryContext(context, device);
  const SpinLockHolder hold(&session_->retaining());
  if (context != 0 && session_->live().Find(KeyOf(schema::CONTEXT, context)) == 0) {
    Allocated(schema::CONTEXT, context, 0, 0, device);
  }
}

void Call::PrimaryReleased(int device) {
  Freeing(schema::CONTEXT, PrimaryContextOf(device), 0);
  ContextFreed();
}

uint64_t Call::NewContext(uint64_t context, int device) {
  NoteContext(context, device);
  PushCurrentContext(context);
  return context;
}

void Call::DeviceReset(int device) { Check(writer_->DeviceReset(Device(device))); }

void Call::Trimmed(schema::Kind kind, uint64_t pool, uint64_t bytes, int device) {
  Check(writer_->Event(schema::TRIM, kind, Device(device), 0, 0, pool, bytes));
}

void Call::SettingChanged(schema::Kind of, uint64_t which, uint64_t value) {
  CaptureStack();
  Check(writer_->Event(schema::LIMIT, of, thread_.device, 0, stack_, which, value));
}

void Call::PoolAttribute(uint64_t pool, int attribute, const void* value) {
  // The other attributes that can be set are flags, which take no memory.
  if (attribute != cuda::kPoolReleaseThreshold || value == nullptr) return;
  uint64_t bytes;
  std::memcpy(&bytes, value, sizeof bytes);
  SettingChanged(schema::MEMORY_POOL, PoolSetting(pool, static_cast<uint32_t>(attribute)), bytes);
}

void Call::MemoryInfo(const size_t* free, const size_t* total) {
  if (free == nullptr || total == nullptr) return;
  if (session_->FirstReportOf(thread_.device, DeviceFact::kSize)) DefineDevice(thread_.device, "", *total);
  Check(writer_->Event(schema::MEMORY_INFO, 0, thread_.device, 0, 0, *free, *total));
}

void Call::FrameworkMemory(uint64_t given_out, uint64_t reserved, int device) {
  session_->NoteFramework();
  Check(writer_->Event(schema::FRAMEWORK_MEMORY, 0, Device(device), 0, 0, given_out, reserved));
}

void Call::Properties(const cuda::DeviceProp* properties, int device) {
  if (properties == nullptr || device < 0) return;
  const auto index = static_cast<uint32_t>(device);
  const bool integrated = IsIntegrated(index) && session_->FirstReportOf(index, DeviceFact::kIntegrated);
  if (session_->FirstReportOf(index, DeviceFact::kUuid) || integrated) {
    DefineDevice(index, properties->name, properties->totalGlobalMem, properties->uuid);
  }
}

void Call::DefineDevice(uint32_t device, const char* name, uint64_t total_bytes, const char* uuid) {
  writer_->Define<512>(schema::definitions_field::devices, [&](MessageWriter* out) {
    out->Varint(schema::device_field::index, device);
    if (const size_t length = strnlen(name, sizeof(cuda::DeviceProp::name))) {
      out->Bytes(schema::device_field::name, name, length);
    }
    out->Fixed64(schema::device_field::total_bytes, total_bytes);
    if (uuid != nullptr) out->Bytes(schema::device_field::uuid, uuid, sizeof(cuda::DeviceProp::uuid));
    out->Varint(schema::device_field::integrated, IsIntegrated(device));
  });
}

void Call::Version(const char* of, const int* number) {
  if (number == nullptr) return;
  writer_->Define<64>(schema::definitions_field::versions, [&](MessageWriter* out) {
    out->String(schema::version_field::of, of);
    out->Varint(schema::version_field::number, static_cast<uint64_t>(*number));
  });
}

void Call::Mark(schema::MarkKind kind, uint32_t name, uint64_t number) {
  CaptureStack();
  writer_->NoteHostMemory();
  Check(writer_->Event(schema::MARK, kind, thread_.device, 0, stack_, uint64_t{name}, number));
}

void Call::Step(uint64_t number, double value) {
  uint64_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  writer_->NoteHostMemory();
  Check(writer_->Event(schema::STEP, 0, thread_.device, 0, 0, number, bits));
}

void RecordMark(schema::MarkKind kind, const char* domain, const char* message, uint64_t id) {
  if (Session::Running() == nullptr) return NoteEarlyMark(kind, domain, message, id);
  Call call(kNoFamily);
  if (!call.active()) return;
  MarkName name;
  if (message != nullptr) {
    name = NameOf(message, domain, call.session(), call.writer());
  } else if (kind != schema::MARK_RANGE_END) {
    name.id = DomainName(domain, call.session(), call.writer());
  }
  call.Mark(kind, name.id, id != 0 ? id : name.number);
}

}  // namespace vramtrack
