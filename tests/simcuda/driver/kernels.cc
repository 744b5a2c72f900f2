// SPDX-License-Identifier: Apache-2.0
// Modules, libraries and kernels. Their code is never looked at: every name that is asked for is a kernel, and running
// one does nothing.
#include <cuda.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "tests/simcuda/device/log.h"
#include "tests/simcuda/device/options.h"
#include "tests/simcuda/driver/activity.h"
#include "tests/simcuda/driver/capture.h"
#include "tests/simcuda/driver/current.h"

namespace vramtrack::simcuda {
namespace {

struct Module;

struct Function {
  std::string name;
  Module* module = nullptr;
  std::array<std::atomic<int>, CU_FUNC_ATTRIBUTE_MAX> attributes{};
};

struct Module {
  std::mutex mutex;
  std::map<std::string, std::unique_ptr<Function>> functions;
};

Function* GetFunction(Module* module, const char* name) {
  std::lock_guard<std::mutex> lock(module->mutex);
  std::unique_ptr<Function>& function = module->functions[name];
  if (function == nullptr) {
    function = std::make_unique<Function>();
    function->name = name;
    function->module = module;
  }
  return function.get();
}

template <typename Handle>
CUresult Load(Handle* handle) {
  SIMCUDA_TRY(CheckInitialized());
  if (handle == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *handle = reinterpret_cast<Handle>(Handles<Module>::Create());
  return CUDA_SUCCESS;
}

template <typename Handle>
CUresult Unload(Handle handle) {
  SIMCUDA_TRY(CheckInitialized());
  Module* module = Handles<Module>::Get(handle);
  if (module == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  Handles<Module>::Destroy(module);
  return CUDA_SUCCESS;
}

template <typename Kernel, typename Handle>
CUresult Lookup(Kernel* kernel, Handle handle, const char* name) {
  SIMCUDA_TRY(CheckInitialized());
  if (kernel == nullptr || name == nullptr || *name == '\0') return CUDA_ERROR_INVALID_VALUE;
  Module* module = Handles<Module>::Get(handle);
  if (module == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  *kernel = reinterpret_cast<Kernel>(GetFunction(module, name));
  return CUDA_SUCCESS;
}

CUresult Attribute(int* value, int attribute, Function* function) {
  SIMCUDA_TRY(CheckInitialized());
  if (value == nullptr || attribute < 0 || attribute >= CU_FUNC_ATTRIBUTE_MAX) return CUDA_ERROR_INVALID_VALUE;
  if (function == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  *value = function->attributes[static_cast<size_t>(attribute)];
  switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
      *value = 1024;
      break;
    case CU_FUNC_ATTRIBUTE_NUM_REGS:
      *value = 32;
      break;
    case CU_FUNC_ATTRIBUTE_PTX_VERSION:
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
      *value = GetOptions().compute_major * 10 + GetOptions().compute_minor;
      break;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
      if (*value == 0) *value = 49152;
      break;
    default:
      break;
  }
  return CUDA_SUCCESS;
}

CUresult SetAttribute(int attribute, int value, Function* function) {
  SIMCUDA_TRY(CheckInitialized());
  if (attribute < 0 || attribute >= CU_FUNC_ATTRIBUTE_MAX) return CUDA_ERROR_INVALID_VALUE;
  if (function == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  function->attributes[static_cast<size_t>(attribute)] = value;
  return CUDA_SUCCESS;
}

Function* FromHandle(CUfunction handle) { return reinterpret_cast<Function*>(handle); }

struct Extent {
  unsigned x, y, z;
};

CUresult Launch(CUfunction handle, Extent grid, Extent block, unsigned shared_bytes, CUstream stream_handle) {
  Stream* stream;
  SIMCUDA_TRY(CurrentStream(stream_handle, &stream));
  if (handle == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  const bool grid_fits =
      grid.x >= 1 && grid.x <= 2147483647u && grid.y >= 1 && grid.y <= 65535 && grid.z >= 1 && grid.z <= 65535;
  const bool block_fits = block.x >= 1 && block.x <= 1024 && block.y >= 1 && block.y <= 1024 && block.z >= 1 &&
                          block.z <= 64 && uint64_t{block.x} * block.y * block.z <= 1024;
  if (!grid_fits || !block_fits || shared_bytes > 232448) return CUDA_ERROR_INVALID_VALUE;
  Count(Counter::kLaunch);
  if (__builtin_expect(GetOptions().log_kernels, 0)) {
    LogLine("launch %s<<<(%u,%u,%u), (%u,%u,%u), %u>>>", FromHandle(handle)->name.c_str(), grid.x, grid.y, grid.z,
            block.x, block.y, block.z, shared_bytes);
  }
  if (!stream->IsCapturing()) {
    SIMCUDA_TELL(kernel, FromHandle(handle)->name.c_str(), stream->context->device->ordinal, stream->id);
    return CUDA_SUCCESS;
  }
  GraphNode* node;
  SIMCUDA_TRY(CaptureNode(stream, CU_GRAPH_NODE_TYPE_KERNEL, nullptr, &node));
  node->kernel.func = handle;
  node->kernel.gridDimX = grid.x;
  node->kernel.gridDimY = grid.y;
  node->kernel.gridDimZ = grid.z;
  node->kernel.blockDimX = block.x;
  node->kernel.blockDimY = block.y;
  node->kernel.blockDimZ = block.z;
  node->kernel.sharedMemBytes = shared_bytes;
  return CUDA_SUCCESS;
}

CUresult Occupancy(int* blocks, int block_size) {
  SIMCUDA_TRY(CheckInitialized());
  if (blocks == nullptr || block_size <= 0 || block_size > 1024) return CUDA_ERROR_INVALID_VALUE;
  *blocks = std::min(2048 / block_size, 32);
  return CUDA_SUCCESS;
}

}  // namespace

extern "C" {

CUresult cuModuleLoad(CUmodule* module, const char*) { return Load(module); }
CUresult cuModuleLoadData(CUmodule* module, const void*) { return Load(module); }
CUresult cuModuleLoadDataEx(CUmodule* module, const void*, unsigned, CUjit_option*, void**) { return Load(module); }
CUresult cuModuleLoadFatBinary(CUmodule* module, const void*) { return Load(module); }
CUresult cuModuleUnload(CUmodule module) { return Unload(module); }
CUresult cuModuleGetFunction(CUfunction* function, CUmodule module, const char* name) {
  return Lookup(function, module, name);
}
CUresult cuModuleGetLoadingMode(CUmoduleLoadingMode* mode) {
  if (mode == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *mode = CU_MODULE_LAZY_LOADING;
  return CheckInitialized();
}
// The variables of a module are in its code.
CUresult cuModuleGetGlobal_v2(CUdeviceptr*, size_t*, CUmodule, const char*) { return CUDA_ERROR_NOT_FOUND; }

CUresult cuLibraryLoadData(CUlibrary* library, const void*, CUjit_option*, void**, unsigned, CUlibraryOption*, void**,
                           unsigned) {
  return Load(library);
}
CUresult cuLibraryLoadFromFile(CUlibrary* library, const char*, CUjit_option*, void**, unsigned, CUlibraryOption*,
                               void**, unsigned) {
  return Load(library);
}
CUresult cuLibraryUnload(CUlibrary library) { return Unload(library); }
CUresult cuLibraryGetKernel(CUkernel* kernel, CUlibrary library, const char* name) {
  return Lookup(kernel, library, name);
}
CUresult cuLibraryGetKernelCount(unsigned* count, CUlibrary handle) {
  SIMCUDA_TRY(CheckInitialized());
  Module* module = Handles<Module>::Get(handle);
  if (count == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (module == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  std::lock_guard<std::mutex> lock(module->mutex);
  *count = static_cast<unsigned>(module->functions.size());
  return CUDA_SUCCESS;
}
CUresult cuLibraryGetGlobal(CUdeviceptr*, size_t*, CUlibrary, const char*) { return CUDA_ERROR_NOT_FOUND; }
CUresult cuLibraryGetManaged(CUdeviceptr*, size_t*, CUlibrary, const char*) { return CUDA_ERROR_NOT_FOUND; }
CUresult cuLibraryGetUnifiedFunction(void**, CUlibrary, const char*) { return CUDA_ERROR_NOT_FOUND; }

// A kernel of a library and a function of a module are the same thing here.
CUresult cuKernelGetFunction(CUfunction* function, CUkernel kernel) {
  SIMCUDA_TRY(CheckInitialized());
  if (function == nullptr || kernel == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *function = reinterpret_cast<CUfunction>(kernel);
  return CUDA_SUCCESS;
}
CUresult cuKernelGetName(const char** name, CUkernel kernel) {
  SIMCUDA_TRY(CheckInitialized());
  if (name == nullptr || kernel == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *name = reinterpret_cast<Function*>(kernel)->name.c_str();
  return CUDA_SUCCESS;
}
CUresult cuKernelGetAttribute(int* value, CUfunction_attribute attribute, CUkernel kernel, CUdevice) {
  return Attribute(value, attribute, reinterpret_cast<Function*>(kernel));
}

CUresult cuFuncGetAttribute(int* value, CUfunction_attribute attribute, CUfunction function) {
  return Attribute(value, attribute, FromHandle(function));
}
CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute, int value) {
  return SetAttribute(attribute, value, FromHandle(function));
}
CUresult cuFuncSetCacheConfig(CUfunction, CUfunc_cache) { return CheckInitialized(); }
CUresult cuFuncGetName(const char** name, CUfunction function) {
  return cuKernelGetName(name, reinterpret_cast<CUkernel>(function));
}
CUresult cuFuncLoad(CUfunction) { return CheckInitialized(); }
CUresult cuFuncIsLoaded(CUfunctionLoadingState* state, CUfunction) {
  if (state == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *state = CU_FUNCTION_LOADING_STATE_LOADED;
  return CheckInitialized();
}

CUresult cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                        unsigned block_y, unsigned block_z, unsigned shared_bytes, CUstream stream, void**, void**) {
  return Launch(function, {grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared_bytes, stream);
}
CUresult cuLaunchKernelEx(const CUlaunchConfig* config, CUfunction function, void**, void**) {
  if (config == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return Launch(function, {config->gridDimX, config->gridDimY, config->gridDimZ},
                {config->blockDimX, config->blockDimY, config->blockDimZ}, config->sharedMemBytes, config->hStream);
}
CUresult cuLaunchCooperativeKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                                   unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                                   CUstream stream, void**) {
  return Launch(function, {grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared_bytes, stream);
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, CUfunction, int block_size, size_t) {
  return Occupancy(blocks, block_size);
}
CUresult cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, CUfunction, int block_size, size_t,
                                                              unsigned) {
  return Occupancy(blocks, block_size);
}

}  // extern "C"

}  // namespace vramtrack::simcuda
