// SPDX-License-Identifier: Apache-2.0
//
// Initialization and contexts.
#include <cuda.h>
#include <dlfcn.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>

#include "tests/simcuda/device/log.h"
#include "tests/simcuda/driver/current.h"

#undef cuCtxCreate

namespace vramtrack::simcuda {
namespace {

std::atomic<bool> loaded;

// Loads the library that CUDA_INJECTION64_PATH names and calls its `int InitializeInjection(void)`, at the first call
// in the process. What cannot be loaded, or says that it failed, is left aside: the program goes on.
void LoadInjectedLibrary() {
  // Not std::call_once: the library may call cuInit itself.
  if (loaded.exchange(true)) return;
  const char* path = getenv("CUDA_INJECTION64_PATH");
  if (path == nullptr || *path == '\0') return;
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    SIMCUDA_LOG_CALL("injection: %s", dlerror());
    return;
  }
  const auto initialize = reinterpret_cast<int (*)()>(dlsym(library, "InitializeInjection"));
  if (initialize == nullptr) {
    SIMCUDA_LOG_CALL("injection: %s has no InitializeInjection", path);
    return;
  }
  const int result = initialize();
  SIMCUDA_LOG_CALL("injection: %s answered %d", path, result);
}

}  // namespace

constexpr int kMaxDepth = 64;

struct ContextStack {
  Context* contexts[kMaxDepth];
  int depth;
};

// The plain offset from the thread pointer: a context is looked up at every call. Of external linkage, because
// gold 1.16 mixes up the offsets of thread-local variables that are local to a file and looked up in this way.
__attribute__((tls_model("initial-exec"), visibility("hidden"))) thread_local ContextStack context_stack;

namespace {

std::atomic<bool> initialized{false};

Context* Top() { return context_stack.depth == 0 ? nullptr : context_stack.contexts[context_stack.depth - 1]; }

CUresult Push(Context* context) {
  if (context_stack.depth == kMaxDepth) return CUDA_ERROR_INVALID_CONTEXT;
  context_stack.contexts[context_stack.depth++] = context;
  return CUDA_SUCCESS;
}

Context* FromHandle(CUcontext handle) { return reinterpret_cast<Context*>(handle); }
CUcontext ToHandle(Context* context) { return reinterpret_cast<CUcontext>(context); }

CUresult CreateContext(CUcontext* context, unsigned flags, CUdevice ordinal) {
  SIMCUDA_TRY(CheckInitialized());
  if (context == nullptr) return CUDA_ERROR_INVALID_VALUE;
  SIMCUDA_TRY(CheckDevice(ordinal));
  Context* created = new Context(&GetDevice(ordinal), flags, NextId());
  SIMCUDA_TRY(Push(created));
  TakeContextMemory(created);
  *context = ToHandle(created);
  return CUDA_SUCCESS;
}

}  // namespace

CUresult CheckInitialized() {
  return initialized.load(std::memory_order_relaxed) && !IsForkedChild() ? CUDA_SUCCESS : CUDA_ERROR_NOT_INITIALIZED;
}

CUresult CheckDevice(CUdevice ordinal) {
  return ordinal >= 0 && ordinal < DeviceCount() ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

CUresult CurrentContext(Context** context) {
  SIMCUDA_TRY(CheckInitialized());
  *context = Top();
  return *context != nullptr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

CUresult ResolveStream(CUstream stream, Context* context, Stream** resolved) {
  if (stream == nullptr || stream == CU_STREAM_LEGACY) {
    *resolved = &context->legacy_stream;
    return CUDA_SUCCESS;
  }
  if (stream == CU_STREAM_PER_THREAD) {
    *resolved = &context->per_thread_stream;
    return CUDA_SUCCESS;
  }
  *resolved = Handles<Stream>::Get(stream);
  return *resolved != nullptr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

CUresult CurrentStream(CUstream stream, Stream** resolved) {
  Context* context;
  SIMCUDA_TRY(CurrentContext(&context));
  return ResolveStream(stream, context, resolved);
}

extern "C" {

CUresult cuInit(unsigned flags) {
  if (flags != 0) return CUDA_ERROR_INVALID_VALUE;
  if (DeviceCount() == 0) return CUDA_ERROR_NO_DEVICE;
  if (IsForkedChild()) return CUDA_ERROR_NOT_INITIALIZED;
  initialized = true;
  LoadInjectedLibrary();
  return CUDA_SUCCESS;
}

CUresult cuDriverGetVersion(int* version) {
  if (version == nullptr) return CUDA_ERROR_INVALID_VALUE;
  // By itself never older than the runtime: that would refuse to work.
  const int own = std::max(CUDA_VERSION, GetOptions().runtime_version);
  *version = GetOptions().driver_version != 0 ? GetOptions().driver_version : own;
  return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice ordinal) {
  SIMCUDA_TRY(CheckInitialized());
  if (context == nullptr) return CUDA_ERROR_INVALID_VALUE;
  SIMCUDA_TRY(CheckDevice(ordinal));
  *context = ToHandle(GetDevice(ordinal).RetainPrimary());
  return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRelease_v2(CUdevice ordinal) {
  SIMCUDA_TRY(CheckInitialized());
  SIMCUDA_TRY(CheckDevice(ordinal));
  return GetDevice(ordinal).ReleasePrimary() ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

CUresult cuDevicePrimaryCtxReset_v2(CUdevice ordinal) {
  SIMCUDA_TRY(CheckInitialized());
  SIMCUDA_TRY(CheckDevice(ordinal));
  GetDevice(ordinal).ResetPrimary();
  SIMCUDA_LOG_CALL("device %d reset", ordinal);
  return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxSetFlags_v2(CUdevice ordinal, unsigned flags) {
  SIMCUDA_TRY(CheckInitialized());
  SIMCUDA_TRY(CheckDevice(ordinal));
  GetDevice(ordinal).primary_flags = flags;
  return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxGetState(CUdevice ordinal, unsigned* flags, int* active) {
  SIMCUDA_TRY(CheckInitialized());
  SIMCUDA_TRY(CheckDevice(ordinal));
  if (flags != nullptr) *flags = GetDevice(ordinal).primary_flags;
  if (active != nullptr) *active = GetDevice(ordinal).primary_active();
  return CUDA_SUCCESS;
}

CUresult cuCtxCreate_v2(CUcontext* context, unsigned flags, CUdevice ordinal) {
  return CreateContext(context, flags, ordinal);
}

CUresult cuCtxCreate_v3(CUcontext* context, CUexecAffinityParam*, int, unsigned flags, CUdevice ordinal) {
  return CreateContext(context, flags, ordinal);
}

CUresult cuCtxCreate_v4(CUcontext* context, CUctxCreateParams*, unsigned flags, CUdevice ordinal) {
  return CreateContext(context, flags, ordinal);
}

// What was allocated under a context of the program's own stays allocated: memory is accounted to the device.
CUresult cuCtxDestroy_v2(CUcontext handle) {
  SIMCUDA_TRY(CheckInitialized());
  Context* context = FromHandle(handle);
  if (context == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  // Streams and events may still point at it, so it is left where it is.
  if (context->destroyed.exchange(true)) return CUDA_ERROR_CONTEXT_IS_DESTROYED;
  ReturnContextMemory(context);
  if (Top() == context) --context_stack.depth;
  return CUDA_SUCCESS;
}

// The oldest ways to share a context; each counts as one more user of it.
CUresult cuCtxAttach(CUcontext* handle, unsigned flags) {
  Context* context;
  SIMCUDA_TRY(CurrentContext(&context));
  if (handle == nullptr || flags != 0) return CUDA_ERROR_INVALID_VALUE;
  ++context->attached;
  *handle = ToHandle(context);
  return CUDA_SUCCESS;
}

CUresult cuCtxDetach(CUcontext handle) {
  SIMCUDA_TRY(CheckInitialized());
  Context* context = FromHandle(handle);
  if (context == nullptr || context != Top()) return CUDA_ERROR_INVALID_CONTEXT;
  if (context->attached > 0) {
    --context->attached;
    return CUDA_SUCCESS;
  }
  return cuCtxDestroy_v2(handle);
}

CUresult cuCtxPushCurrent_v2(CUcontext context) {
  SIMCUDA_TRY(CheckInitialized());
  return context == nullptr ? CUDA_ERROR_INVALID_CONTEXT : Push(FromHandle(context));
}

CUresult cuCtxPopCurrent_v2(CUcontext* context) {
  SIMCUDA_TRY(CheckInitialized());
  if (context_stack.depth == 0) return CUDA_ERROR_INVALID_CONTEXT;
  --context_stack.depth;
  if (context != nullptr) *context = ToHandle(context_stack.contexts[context_stack.depth]);
  return CUDA_SUCCESS;
}

CUresult cuCtxSetCurrent(CUcontext context) {
  SIMCUDA_TRY(CheckInitialized());
  if (context == nullptr) {
    context_stack.depth = std::max(context_stack.depth - 1, 0);
    return CUDA_SUCCESS;
  }
  if (context_stack.depth == 0) return Push(FromHandle(context));
  context_stack.contexts[context_stack.depth - 1] = FromHandle(context);
  return CUDA_SUCCESS;
}

CUresult cuCtxGetCurrent(CUcontext* context) {
  SIMCUDA_TRY(CheckInitialized());
  if (context == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *context = ToHandle(Top());
  return CUDA_SUCCESS;
}

CUresult cuCtxGetDevice(CUdevice* ordinal) {
  Context* context;
  SIMCUDA_TRY(CurrentContext(&context));
  if (ordinal == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *ordinal = context->device->ordinal;
  return CUDA_SUCCESS;
}

CUresult cuCtxSynchronize() {
  SIMCUDA_TRY(CheckUnsafeCall());
  Context* context;
  SIMCUDA_TRY(CurrentContext(&context));
  context->device->Synchronize();
  return CUDA_SUCCESS;
}

CUresult cuCtxSetLimit(CUlimit limit, size_t value) {
  Context* context;
  SIMCUDA_TRY(CurrentContext(&context));
  if (static_cast<unsigned>(limit) >= CU_LIMIT_MAX) return CUDA_ERROR_UNSUPPORTED_LIMIT;
  context->limits[limit] = value;
  return CUDA_SUCCESS;
}

CUresult cuCtxGetLimit(size_t* value, CUlimit limit) {
  Context* context;
  SIMCUDA_TRY(CurrentContext(&context));
  if (value == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (static_cast<unsigned>(limit) >= CU_LIMIT_MAX) return CUDA_ERROR_UNSUPPORTED_LIMIT;
  *value = context->limits[limit];
  if (*value == 0 && limit == CU_LIMIT_STACK_SIZE) *value = 1024;
  if (*value == 0 && limit == CU_LIMIT_PRINTF_FIFO_SIZE) *value = size_t{1} << 20;
  if (*value == 0 && limit == CU_LIMIT_MALLOC_HEAP_SIZE) *value = size_t{8} << 20;
  return CUDA_SUCCESS;
}

CUresult cuCtxSetCacheConfig(CUfunc_cache config) {
  Context* context;
  SIMCUDA_TRY(CurrentContext(&context));
  context->cache_config = config;
  return CUDA_SUCCESS;
}

CUresult cuCtxSetSharedMemConfig(CUsharedconfig config) {
  Context* context;
  SIMCUDA_TRY(CurrentContext(&context));
  context->shared_config = config;
  return CUDA_SUCCESS;
}

CUresult cuCtxGetStreamPriorityRange(int* least, int* greatest) {
  SIMCUDA_TRY(CheckInitialized());
  if (least != nullptr) *least = 0;
  if (greatest != nullptr) *greatest = -5;
  return CUDA_SUCCESS;
}

CUresult cuCtxResetPersistingL2Cache() { return CheckInitialized(); }

CUresult cuCtxEnablePeerAccess(CUcontext peer, unsigned flags) {
  Context* context;
  SIMCUDA_TRY(CurrentContext(&context));
  if (peer == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  if (flags != 0) return CUDA_ERROR_INVALID_VALUE;
  if (FromHandle(peer)->device == context->device) return CUDA_ERROR_INVALID_DEVICE;
  const uint64_t bit = uint64_t{1} << FromHandle(peer)->device->ordinal;
  const bool enabled = (context->device->peers.fetch_or(bit) & bit) != 0;
  return enabled ? CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED : CUDA_SUCCESS;
}

CUresult cuCtxDisablePeerAccess(CUcontext peer) {
  Context* context;
  SIMCUDA_TRY(CurrentContext(&context));
  if (peer == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  const uint64_t bit = uint64_t{1} << FromHandle(peer)->device->ordinal;
  const bool enabled = (context->device->peers.fetch_and(~bit) & bit) != 0;
  return enabled ? CUDA_SUCCESS : CUDA_ERROR_PEER_ACCESS_NOT_ENABLED;
}

}  // extern "C"

}  // namespace vramtrack::simcuda
