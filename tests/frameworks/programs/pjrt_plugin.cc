// SPDX-License-Identifier: Apache-2.0
//
// A plugin like XLA's for CUDA: a pool that is allocated in advance, arrays in it or in memory of the host, and one
// executable with two results, which takes over its first argument. Arrays are numbers of bytes.
#include <cuda_runtime_api.h>

#include <atomic>
#include <cstdio>
#include <cstring>

#include "interpose/frameworks/xla/pjrt_abi.h"

namespace vramtrack::pjrt {

struct Error {
  int code;
};
struct Buffer {
  Memory* memory;
  size_t bytes;
  bool deleted;
};
struct Device {
  int id;
};
struct Memory {
  Device* device;
  const char* kind;
};
struct Executable {
  const char* name;
};
struct LoadedExecutable {
  std::atomic<int> executions;
};

namespace {

// What is larger does not fit.
constexpr size_t kPoolBytes = 256 << 20;

Device device = {0};
Memory memories[] = {{&device, "device"}, {&device, "pinned_host"}};
LoadedExecutable loaded;
std::atomic<int> executables;  // that nobody has destroyed

Buffer* Make(Memory* memory, size_t bytes) {
  static void* const pool = [] {
    void* memory = nullptr;
    return cudaMalloc(&memory, kPoolBytes) == cudaSuccess ? memory : nullptr;
  }();
  if (pool == nullptr) return nullptr;
  return new Buffer{memory == nullptr ? &memories[0] : memory, bytes, false};
}

template <class T, class Function>
pjrt::Function Returning(Function function) {
  static Function kept = function;
  return [](void* arguments) -> Error* { return kept(static_cast<T*>(arguments)); };
}

Error* NotThere(void*) { return new Error{12}; }

Error* FromHost(BufferFromHostBuffer* a) {
  size_t bytes = 1;
  for (size_t i = 0; i < a->dimension_count; ++i) bytes *= static_cast<size_t>(a->dimensions[i]);
  if (bytes > kPoolBytes) return new Error{kResourceExhausted};
  a->buffer = Make(a->memory, bytes);
  return nullptr;
}

Error* Run(Execute* a) {
  ++a->executable->executions;
  for (size_t i = 0; i < a->devices; ++i) {
    a->arguments[i][0]->deleted = true;
    a->outputs[i][0] = Make(nullptr, a->arguments[i][0]->bytes);
    a->outputs[i][1] = Make(nullptr, a->arguments[i][1]->bytes);
  }
  return nullptr;
}

void Fill(Api* api) {
  api->version = {sizeof api->version, nullptr, 0, 112};
  for (Function& function : api->functions) function = &NotThere;
  Function* const f = api->functions;
  f[kErrorDestroy] = Returning<ErrorArguments>([](ErrorArguments* a) -> Error* {
    delete a->error;
    return nullptr;
  });
  f[kErrorGetCode] = Returning<ErrorCode>([](ErrorCode* a) -> Error* {
    a->code = a->error->code;
    return nullptr;
  });
  f[kClientBufferFromHostBuffer] = Returning<BufferFromHostBuffer>(&FromHost);
  f[kDeviceLocalHardwareId] = Returning<LocalHardwareId>([](LocalHardwareId* a) -> Error* {
    a->id = a->device->id;
    return nullptr;
  });
  f[kMemoryKind] = Returning<MemoryKind>([](MemoryKind* a) -> Error* {
    a->kind = a->memory->kind;
    a->kind_size = strlen(a->kind);
    return nullptr;
  });
  f[kExecutableDestroy] = Returning<ExecutableArguments>([](ExecutableArguments* a) -> Error* {
    delete a->executable;
    --executables;
    return nullptr;
  });
  f[kExecutableName] = Returning<ExecutableName>([](ExecutableName* a) -> Error* {
    a->name = a->executable->name;
    a->name_size = strlen(a->name);
    return nullptr;
  });
  f[kExecutableNumOutputs] = Returning<NumOutputs>([](NumOutputs* a) -> Error* {
    a->outputs = 2;
    return nullptr;
  });
  f[kExecutableGetCompiledMemoryStats] = Returning<CompiledMemoryStats>([](CompiledMemoryStats* a) -> Error* {
    a->temporaries = 5000;
    return nullptr;
  });
  f[kLoadedExecutableDestroy] =
      Returning<LoadedExecutableArguments>([](LoadedExecutableArguments*) -> Error* { return nullptr; });
  f[kLoadedExecutableGetExecutable] = Returning<GetExecutable>([](GetExecutable* a) -> Error* {
    a->of = new Executable{"jit_train_step"};
    ++executables;
    return nullptr;
  });
  f[kLoadedExecutableExecute] = Returning<Execute>(&Run);
  f[kBufferDestroy] = Returning<BufferArguments>([](BufferArguments* a) -> Error* {
    delete a->buffer;
    return nullptr;
  });
  f[kBufferOnDeviceSizeInBytes] = Returning<SizeInBytes>([](SizeInBytes* a) -> Error* {
    if (a->buffer->deleted) return new Error{3};
    a->bytes = a->buffer->bytes;
    return nullptr;
  });
  f[kBufferDevice] = Returning<BufferDevice>([](BufferDevice* a) -> Error* {
    a->device = a->buffer->memory->device;
    return nullptr;
  });
  f[kBufferMemory] = Returning<BufferMemory>([](BufferMemory* a) -> Error* {
    a->memory = a->buffer->memory;
    return nullptr;
  });
  f[kBufferDelete] = Returning<BufferArguments>([](BufferArguments* a) -> Error* {
    a->buffer->deleted = true;
    return nullptr;
  });
  f[kBufferIsDeleted] = Returning<IsDeleted>([](IsDeleted* a) -> Error* {
    a->deleted = a->buffer->deleted;
    return nullptr;
  });
  f[kBufferCopyToDevice] = Returning<CopyTo>([](CopyTo* a) -> Error* {
    a->copy = Make(nullptr, a->buffer->bytes);
    return nullptr;
  });
  f[kBufferCopyToMemory] = Returning<CopyTo>([](CopyTo* a) -> Error* {
    a->copy = Make(static_cast<Memory*>(a->destination), a->buffer->bytes);
    return nullptr;
  });
}

}  // namespace
}  // namespace vramtrack::pjrt

using namespace vramtrack;  // NOLINT

extern "C" const pjrt::Api* GetPjrtApi() {
  static pjrt::Api api;
  if (api.struct_size == 0) {
    pjrt::Fill(&api);
    // As tables of some version end.
    api.struct_size = offsetof(pjrt::Api, functions) + FUNCTIONS * sizeof(pjrt::Function);
    api.version.major = MAJOR;
  }
  return &api;
}

// For the program, which has no client.
extern "C" pjrt::LoadedExecutable* TheExecutable() { return &pjrt::loaded; }
extern "C" int LiveExecutables() { return pjrt::executables; }
extern "C" pjrt::Memory* HostMemory() { return &pjrt::memories[1]; }
