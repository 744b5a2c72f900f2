// SPDX-License-Identifier: Apache-2.0
//
// An array is recorded as a block of its bytes on the device, whose address is that of the plugin's object for it:
// where in the allocator's memory an array lies is not asked, because the answer may wait for the device. An array ends
// when it is deleted, or its object is destroyed, or an execution takes it over for its own results (donation).
//
// What an execution needs besides its arguments and results is one block, which lives as long as the call: the
// allocator gives it out and takes it back then, in the order of the device's stream.
#include "interpose/frameworks/xla/pjrt_hooks.h"

#include <atomic>
#include <cstring>

#include "interpose/base/concurrent_table.h"
#include "interpose/base/spin_lock.h"
#include "interpose/frameworks/allocator.h"
#include "interpose/frameworks/xla/pjrt_abi.h"
#include "interpose/hooks/table/call.h"
#include "interpose/loader/loaded_object.h"
#include "interpose/session/mark_names.h"

namespace vramtrack {
namespace {

using pjrt::Function;

constexpr char kFramework[] = "XLA";
constexpr int kMostPlugins = 4;

struct Plugin {
  std::atomic<const void*> get_api;  // the plugin's function
  std::atomic<const pjrt::Api*> real;
  pjrt::Api hooked;  // the real table, with the hooks in it
};
Plugin plugins[kMostPlugins];
SpinLock adding;    // a plugin
SpinLock learning;  // of an executable

// By LoadedExecutable: 1 + the number of its results << kNeedBits | units of memory that it needs besides.
ConcurrentTable executables;
constexpr int kNeedBits = 40;
constexpr uint64_t kNeedUnit = 256;  // of XLA's allocations
constexpr uint64_t kNothing = uint64_t{1} << kNeedBits;
// By LoadedExecutable: its Executable, which has its name. It is kept as long as the other.
ConcurrentTable named;

uint64_t AddressOf(const void* object) { return reinterpret_cast<uint64_t>(object); }

// Functions of one plugin.
class Calls {
 public:
  explicit Calls(const pjrt::Api* api) : api_(api) {}

  bool Has(int which) const {
    return api_->struct_size >= offsetof(pjrt::Api, functions) + (which + 1) * sizeof(Function);
  }
  Function Get(int which) const { return api_->functions[which]; }

  // Calls a function that only answers; false if it does not.
  bool Ask(int which, pjrt::Arguments* arguments, size_t size) const {
    if (!Has(which)) return false;
    arguments->struct_size = size;
    pjrt::Error* const error = Get(which)(arguments);
    if (error == nullptr) return true;
    pjrt::ErrorArguments destroy = {{sizeof destroy, nullptr}, error};
    Get(pjrt::kErrorDestroy)(&destroy);
    return false;
  }
  template <class T>
  bool Ask(int which, T* arguments) const {
    return Ask(which, arguments, sizeof *arguments);
  }

  // The device of an array, or Allocators::kNotRecorded if it is in memory of the host.
  int DeviceOf(pjrt::Buffer* buffer, pjrt::Memory** memory) const {
    pjrt::BufferMemory asked = {};
    asked.buffer = buffer;
    if (!Ask(pjrt::kBufferMemory, &asked)) return Allocators::kNotRecorded;
    *memory = asked.memory;
    const int known = Allocators::DeviceOf(asked.memory);
    return __builtin_expect(known == Allocators::kUnknown, 0) ? LearnMemory(buffer, asked.memory) : known;
  }

  uint64_t BytesOf(pjrt::Buffer* buffer) const {
    pjrt::SizeInBytes asked = {};
    asked.buffer = buffer;
    return Ask(pjrt::kBufferOnDeviceSizeInBytes, &asked) ? asked.bytes : 0;
  }

  bool IsDeleted(pjrt::Buffer* buffer) const {
    pjrt::IsDeleted asked = {};
    asked.buffer = buffer;
    return Ask(pjrt::kBufferIsDeleted, &asked) && asked.deleted;
  }

  // The number of results that an executable has on each device, and the bytes that it needs besides.
  void Describe(pjrt::LoadedExecutable* executable, size_t* results, uint64_t* needed) const {
    uint64_t known = executables.Find(AddressOf(executable));
    if (__builtin_expect(known == 0, 0)) known = LearnOnce(executable);
    *results = (known >> kNeedBits) - 1;
    *needed = (known & ((uint64_t{1} << kNeedBits) - 1)) * kNeedUnit;
  }

  // Copies the name of the function that was compiled: "step" for "jit_step". False if it has none.
  bool NameOf(pjrt::LoadedExecutable* loaded, char* name, size_t capacity) const {
    pjrt::ExecutableName asked = {};
    asked.executable = reinterpret_cast<pjrt::Executable*>(named.Find(AddressOf(loaded)));
    if (asked.executable == nullptr || !Ask(pjrt::kExecutableName, &asked)) return false;
    constexpr char kPrefix[] = "jit_";
    constexpr size_t kPrefixBytes = sizeof kPrefix - 1;
    if (asked.name_size >= kPrefixBytes && strncmp(asked.name, kPrefix, kPrefixBytes) == 0) {
      asked.name += kPrefixBytes;
      asked.name_size -= kPrefixBytes;
    }
    const size_t length = asked.name_size < capacity ? asked.name_size : capacity - 1;
    std::memcpy(name, asked.name, length);
    name[length] = '\0';
    return length > 0;
  }

  // Forgets an executable that ends.
  void Forget(pjrt::LoadedExecutable* loaded) const {
    executables.Remove(AddressOf(loaded));
    auto* const executable = reinterpret_cast<pjrt::Executable*>(named.Remove(AddressOf(loaded)));
    if (executable != nullptr) DestroyExecutable(executable);
  }

  bool IsOutOfMemory(pjrt::Error* error) const {
    pjrt::ErrorCode asked = {};
    asked.error = error;
    return Ask(pjrt::kErrorGetCode, &asked) && asked.code == pjrt::kResourceExhausted;
  }

 private:
  void DestroyExecutable(pjrt::Executable* executable) const {
    pjrt::ExecutableArguments destroy = {};
    destroy.executable = executable;
    Ask(pjrt::kExecutableDestroy, &destroy);
  }

  __attribute__((noinline, cold)) int LearnMemory(pjrt::Buffer* buffer, pjrt::Memory* memory) const {
    pjrt::MemoryKind kind = {};
    kind.memory = memory;
    if (!Ask(pjrt::kMemoryKind, &kind)) return Allocators::kNotRecorded;
    char name[Allocators::kNameBytes] = {};
    std::memcpy(name, kind.kind, kind.kind_size < sizeof name ? kind.kind_size : sizeof name - 1);
    int device = Allocators::kNotRecorded;
    pjrt::BufferDevice of = {};
    of.buffer = buffer;
    pjrt::LocalHardwareId id = {};
    // Pinned memory is recorded where CUDA allocates it.
    if (strcmp(name, "device") == 0 && Ask(pjrt::kBufferDevice, &of)) {
      id.device = of.device;
      if (Ask(pjrt::kDeviceLocalHardwareId, &id) && id.id >= 0 && id.id < kHostAsDevice) device = id.id;
    }
    LoadedObject plugin;
    const bool named = FindLoadedObject(reinterpret_cast<const void*>(Get(pjrt::kMemoryKind)), &plugin);
    Allocators::Learn(memory, kFramework, named ? plugin.name() : name, device, /*by_handle=*/true);
    return device;
  }

  // Several threads may execute it for the first time.
  __attribute__((noinline, cold)) uint64_t LearnOnce(pjrt::LoadedExecutable* loaded) const {
    const SpinLockHolder holder(&learning);
    if (!holder.held()) return kNothing;
    const uint64_t known = executables.Find(AddressOf(loaded));
    if (known != 0) return known;
    const uint64_t learnt = Learn(loaded);
    executables.Insert(AddressOf(loaded), learnt);
    return learnt;
  }

  uint64_t Learn(pjrt::LoadedExecutable* loaded) const {
    pjrt::GetExecutable of = {};
    of.executable = loaded;
    if (!Ask(pjrt::kLoadedExecutableGetExecutable, &of)) return kNothing;
    pjrt::NumOutputs results = {};
    results.executable = of.of;
    if (!Ask(pjrt::kExecutableNumOutputs, &results)) results.outputs = 0;
    // A plugin writes what fits into the size that it is given.
    pjrt::CompiledMemoryStats stats = {};
    stats.executable = of.of;
    if (!Ask(pjrt::kExecutableGetCompiledMemoryStats, &stats) || stats.temporaries < 0) stats.temporaries = 0;
    if (!named.Insert(AddressOf(loaded), AddressOf(of.of))) DestroyExecutable(of.of);
    return (1 + uint64_t{results.outputs}) << kNeedBits |
           (static_cast<uint64_t>(stats.temporaries) + kNeedUnit - 1) / kNeedUnit;
  }

  const pjrt::Api* const api_;
};

void Record(const Calls& calls, Call* call, pjrt::Buffer* buffer) {
  pjrt::Memory* memory = nullptr;
  const int device = calls.DeviceOf(buffer, &memory);
  if (device < 0) return;
  const uint64_t bytes = calls.BytesOf(buffer);
  if (bytes == 0) return;
  Allocators::Define(memory, call);
  call->BlockAllocated(AddressOf(buffer), bytes, device);
}

// An array that was made by a call that is not hooked is not known, and one that was deleted has ended.
void End(const Calls& calls, Call* call, pjrt::Buffer* buffer) {
  if (!call->IsAllocated(schema::FRAMEWORK_BLOCK, AddressOf(buffer))) return;
  pjrt::Memory* memory = nullptr;
  const int device = calls.DeviceOf(buffer, &memory);
  if (device >= 0) call->BlockFreed(AddressOf(buffer), device);
}

// Records an error of the plugin if it is that memory ran out for `bytes`.
void Fail(const Calls& calls, Call* call, pjrt::Error* error, uint64_t bytes) {
  if (calls.IsOutOfMemory(error)) BlockFailed(call, bytes, kCurrentDevice);
}

// The bytes of the array that is to be made. Elements of types that are not listed take a byte or less.
uint64_t BytesOf(const pjrt::BufferFromHostBuffer& array) {
  // By PJRT_Buffer_Type: none, PRED, S8 to S64, U8 to U64, F16, F32, F64, BF16, C64, C128.
  constexpr uint8_t kElementBytes[] = {1, 1, 1, 2, 4, 8, 1, 2, 4, 8, 2, 4, 8, 2, 8, 16};
  const bool is_known = array.type >= 0 && static_cast<size_t>(array.type) < sizeof kElementBytes;
  uint64_t bytes = is_known ? kElementBytes[array.type] : 1;
  for (size_t i = 0; i < array.dimension_count; ++i) bytes *= static_cast<uint64_t>(array.dimensions[i]);
  return bytes;
}

// An execution as a range, from which steps are found. The first of each executable is not one: its name is not known.
class Range {
 public:
  Range(const Calls& calls, pjrt::LoadedExecutable* executable) {
    char text[PlainName::kMaxBytes];
    open_ = Session::Running() != nullptr && calls.NameOf(executable, text, sizeof text);
    if (open_) RecordMark(schema::MARK_RANGE_PUSH, nullptr, text);
  }
  ~Range() {
    if (open_) RecordMark(schema::MARK_RANGE_POP, nullptr, nullptr);
  }
  Range(const Range&) = delete;
  Range& operator=(const Range&) = delete;

 private:
  bool open_;
};

// The real call is made by the hook, before or after what it records.
template <int kPlugin>
struct Hooks {
  static Calls Real() { return Calls(plugins[kPlugin].real.load(std::memory_order_acquire)); }

  // An error passes through. `buffer`: where the call puts the array that it makes. `bytes` returns its size, if memory
  // runs out.
  template <class Bytes>
  static pjrt::Error* Make(int which, void* arguments, pjrt::Buffer** buffer, Bytes bytes) {
    const Calls calls = Real();
    pjrt::Error* const error = calls.Get(which)(arguments);
    Call call(kBlocks);
    if (!call.active()) return error;
    if (error == nullptr) {
      if (*buffer != nullptr) Record(calls, &call, *buffer);
    } else {
      Fail(calls, &call, error, bytes(calls));
    }
    return error;
  }

  static pjrt::Error* FromHost(void* arguments) {
    auto* const array = static_cast<pjrt::BufferFromHostBuffer*>(arguments);
    return Make(pjrt::kClientBufferFromHostBuffer, arguments, &array->buffer,
                [array](const Calls&) { return BytesOf(*array); });
  }
  static pjrt::Error* Copy(int which, void* arguments) {
    auto* const copy = static_cast<pjrt::CopyTo*>(arguments);
    return Make(which, arguments, &copy->copy, [copy](const Calls& calls) { return calls.BytesOf(copy->buffer); });
  }
  static pjrt::Error* CopyToDevice(void* arguments) { return Copy(pjrt::kBufferCopyToDevice, arguments); }
  static pjrt::Error* CopyToMemory(void* arguments) { return Copy(pjrt::kBufferCopyToMemory, arguments); }

  static pjrt::Error* End(int which, void* arguments) {
    const Calls calls = Real();
    pjrt::Buffer* const buffer = static_cast<pjrt::BufferArguments*>(arguments)->buffer;
    if (buffer != nullptr) {
      Call call(kBlocks);
      if (call.active()) vramtrack::End(calls, &call, buffer);
    }
    return calls.Get(which)(arguments);
  }
  static pjrt::Error* Destroy(void* arguments) { return End(pjrt::kBufferDestroy, arguments); }
  static pjrt::Error* Delete(void* arguments) { return End(pjrt::kBufferDelete, arguments); }

  static pjrt::Error* Execute(void* arguments) {
    const Calls calls = Real();
    const auto* const run = static_cast<pjrt::Execute*>(arguments);
    const Range range(calls, run->executable);
    pjrt::Error* const error = calls.Get(pjrt::kLoadedExecutableExecute)(arguments);
    Call call(kBlocks);
    if (!call.active()) return error;
    size_t results = 0;
    uint64_t needed = 0;
    calls.Describe(run->executable, &results, &needed);
    if (error != nullptr) {
      Fail(calls, &call, error, needed);
      return error;
    }
    for (size_t i = 0; i < run->devices; ++i) {
      pjrt::Memory* memory = nullptr;
      const int device =
          results > 0 ? calls.DeviceOf(run->outputs[i][0], &memory) : static_cast<int>(Allocators::kNotRecorded);
      const bool needs = needed > 0 && device >= 0;
      // The list of this device's arguments is alive as long as the call.
      const uint64_t during = AddressOf(&run->outputs[i]);
      if (needs) {
        Allocators::Define(memory, &call);
        call.BlockAllocated(during, needed, device);
      }
      for (size_t k = 0; k < run->argument_count; ++k) {
        pjrt::Buffer* const argument = run->arguments[i][k];
        if (calls.IsDeleted(argument)) vramtrack::End(calls, &call, argument);
      }
      for (size_t k = 0; k < results; ++k) {
        if (run->outputs[i][k] != nullptr) Record(calls, &call, run->outputs[i][k]);
      }
      if (needs) call.BlockFreed(during, device);
    }
    return error;
  }

  static pjrt::Error* DestroyExecutable(void* arguments) {
    const Calls calls = Real();
    calls.Forget(static_cast<pjrt::LoadedExecutableArguments*>(arguments)->executable);
    return calls.Get(pjrt::kLoadedExecutableDestroy)(arguments);
  }

  // The plugin's table is made once and stays.
  static const pjrt::Api* GetApi() {
    Plugin& plugin = plugins[kPlugin];
    using GetPjrtApi = const pjrt::Api* (*)();
    const pjrt::Api* const real = reinterpret_cast<GetPjrtApi>(plugin.get_api.load(std::memory_order_acquire))();
    if (real == nullptr || real->version.major != 0 || !Calls(real).Has(pjrt::kBufferCopyToDevice)) return real;
    if (!adding.Lock()) return real;
    if (plugin.real.load(std::memory_order_relaxed) == nullptr) {
      constexpr size_t kBytes = sizeof plugin.hooked;
      std::memcpy(&plugin.hooked, real, real->struct_size < kBytes ? real->struct_size : kBytes);
      const bool fits = real->struct_size <= kBytes;
      Function* const functions = plugin.hooked.functions;
      functions[pjrt::kClientBufferFromHostBuffer] = &FromHost;
      functions[pjrt::kBufferCopyToDevice] = &CopyToDevice;
      if (Calls(real).Has(pjrt::kBufferCopyToMemory)) functions[pjrt::kBufferCopyToMemory] = &CopyToMemory;
      functions[pjrt::kBufferDestroy] = &Destroy;
      functions[pjrt::kBufferDelete] = &Delete;
      functions[pjrt::kLoadedExecutableExecute] = &Execute;
      functions[pjrt::kLoadedExecutableDestroy] = &DestroyExecutable;
      if (fits) plugin.real.store(real, std::memory_order_release);
    }
    adding.Unlock();
    return plugin.real.load(std::memory_order_relaxed) == nullptr ? real : &plugin.hooked;
  }
};

bool IsForCuda(const void* function) {
  LoadedObject library;
  if (!FindLoadedObject(function, &library)) return false;
  return strstr(library.name(), "cuda") != nullptr || strstr(library.name(), "gpu") != nullptr;
}

}  // namespace

void* PjrtApiFor(void* real) {
  using GetPjrtApi = const pjrt::Api* (*)();
  static constexpr GetPjrtApi kHooked[kMostPlugins] = {&Hooks<0>::GetApi, &Hooks<1>::GetApi, &Hooks<2>::GetApi,
                                                       &Hooks<3>::GetApi};
  if (!IsForCuda(real) || !adding.Lock()) return real;
  int at = 0;
  while (at < kMostPlugins) {
    const void* const known = plugins[at].get_api.load(std::memory_order_relaxed);
    if (known == nullptr || known == real) break;
    ++at;
  }
  if (at < kMostPlugins) plugins[at].get_api.store(real, std::memory_order_release);
  adding.Unlock();
  return at < kMostPlugins ? reinterpret_cast<void*>(kHooked[at]) : real;
}

}  // namespace vramtrack
