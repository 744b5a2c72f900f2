// SPDX-License-Identifier: Apache-2.0
// Registration and launch of the kernels and device variables that nvcc compiled into the program.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "tests/simcuda/runtime/driver.h"

namespace vramtrack::simcuda {
namespace {

struct Kernel {
  std::string name;
  const void* image;
  CUfunction function = nullptr;
};

struct Variable {
  size_t bytes;
  const void* image;
  std::map<int, CUdeviceptr> addresses;  // by device
};

// One for each object file with device code, with what it has registered. PyTorch has thousands.
struct Image {
  std::vector<const void*> kernels, variables;
};

// Filled before main, in whatever order the object files are started.
struct Registry {
  std::mutex mutex;
  std::unordered_map<const void*, Kernel> kernels;  // by the address of the host function
  std::unordered_map<const void*, Variable> variables;
};

Registry& GetRegistry() {
  static Registry* registry = new Registry;
  return *registry;
}

// Takes from `all` what an image has registered and no later one has registered again.
template <typename Entries>
void Forget(const std::vector<const void*>& registered, const void* image, Entries* all) {
  for (const void* address : registered) {
    const auto found = all->find(address);
    if (found != all->end() && found->second.image == image) all->erase(found);
  }
}

struct Configuration {
  dim3 grid, block;
  size_t shared_bytes;
  void* stream;
};

// Launches nest only where an argument of a launch launches itself.
std::vector<Configuration>& Pending() {
  static thread_local std::vector<Configuration> pending;
  return pending;
}

cudaError_t FindFunction(const void* host_function, CUfunction* function) {
  Registry& registry = GetRegistry();
  std::lock_guard<std::mutex> lock(registry.mutex);
  auto found = registry.kernels.find(host_function);
  if (found == registry.kernels.end()) return cudaErrorInvalidDeviceFunction;
  Kernel& kernel = found->second;
  if (kernel.function == nullptr) {
    static CUmodule module = nullptr;
    if (module == nullptr) {
      const CUresult result = DRIVER(cuModuleLoadData)(&module, nullptr);
      if (result != CUDA_SUCCESS) return static_cast<cudaError_t>(result);
    }
    const CUresult result = DRIVER(cuModuleGetFunction)(&kernel.function, module, kernel.name.c_str());
    if (result != CUDA_SUCCESS) return static_cast<cudaError_t>(result);
  }
  *function = kernel.function;
  return cudaSuccess;
}

bool IsLaunchable(dim3 grid, dim3 block, size_t shared_bytes) {
  return grid.x >= 1 && grid.x <= 2147483647u && grid.y >= 1 && grid.y <= 65535 && grid.z >= 1 && grid.z <= 65535 &&
         block.x >= 1 && block.x <= 1024 && block.y >= 1 && block.y <= 1024 && block.z >= 1 && block.z <= 64 &&
         uint64_t{block.x} * block.y * block.z <= 1024 && shared_bytes <= 232448;
}

cudaError_t Launch(CUfunction function, dim3 grid, dim3 block, size_t shared_bytes, cudaStream_t stream) {
  if (!IsLaunchable(grid, block, shared_bytes)) return Done(cudaErrorInvalidConfiguration);
  return Done(DRIVER(cuLaunchKernel)(function, grid.x, grid.y, grid.z, block.x, block.y, block.z,
                                     static_cast<unsigned>(shared_bytes), stream, nullptr, nullptr));
}

cudaError_t LaunchHost(const void* host_function, dim3 grid, dim3 block, size_t shared_bytes, cudaStream_t stream) {
  RUNTIME_TRY(Bind());
  CUfunction function;
  RUNTIME_TRY(FindFunction(host_function, &function));
  return Launch(function, grid, block, shared_bytes, stream);
}

// Device variables take memory when they are first used on a device.
cudaError_t FindVariable(const void* symbol, CUdeviceptr* address, size_t* bytes) {
  Registry& registry = GetRegistry();
  std::lock_guard<std::mutex> lock(registry.mutex);
  auto found = registry.variables.find(symbol);
  if (found == registry.variables.end()) return cudaErrorInvalidSymbol;
  Variable& variable = found->second;
  *bytes = variable.bytes;
  if (address == nullptr) return cudaSuccess;
  CUdeviceptr& known = variable.addresses[ThreadDevice()];
  // A reset takes it away with everything else.
  CUdeviceptr base = 0;
  if (known != 0 && DRIVER(cuMemGetAddressRange_v2)(&base, nullptr, known) != CUDA_SUCCESS) known = 0;
  if (known == 0) {
    const CUresult result = DRIVER(cuMemAlloc_v2)(&known, std::max(variable.bytes, size_t{1}));
    if (result != CUDA_SUCCESS) return static_cast<cudaError_t>(result);
    DRIVER(cuMemsetD8_v2)(known, 0, variable.bytes);
  }
  *address = known;
  return cudaSuccess;
}

cudaError_t SymbolRange(const void* symbol, size_t offset, size_t count, CUdeviceptr* address) {
  RUNTIME_TRY(Bind());
  size_t bytes;
  RUNTIME_TRY(FindVariable(symbol, address, &bytes));
  if (offset > bytes || count > bytes - offset) return Done(cudaErrorInvalidValue);
  *address += offset;
  return cudaSuccess;
}

int FunctionAttribute(CUfunction function, CUfunction_attribute attribute) {
  int value = 0;
  DRIVER(cuFuncGetAttribute)(&value, attribute, function);
  return value;
}

}  // namespace

extern "C" {

void** __cudaRegisterFatBinary(void*) { return reinterpret_cast<void**>(new Image); }

void __cudaRegisterFatBinaryEnd(void**) {}

void __cudaUnregisterFatBinary(void** handle) {
  Registry& registry = GetRegistry();
  Image* const image = reinterpret_cast<Image*>(handle);
  {
    std::lock_guard<std::mutex> lock(registry.mutex);
    Forget(image->kernels, handle, &registry.kernels);
    Forget(image->variables, handle, &registry.variables);
  }
  delete image;
}

char __cudaInitModule(void**) { return 1; }

void __cudaRegisterFunction(void** handle, const char* host_function, char*, const char* name, int, uint3*, uint3*,
                            dim3*, dim3*, int*) {
  Registry& registry = GetRegistry();
  std::lock_guard<std::mutex> lock(registry.mutex);
  registry.kernels[host_function] = Kernel{name, handle, nullptr};
  reinterpret_cast<Image*>(handle)->kernels.push_back(host_function);
}

void __cudaRegisterVar(void** handle, char* host_variable, char*, const char*, int, size_t bytes, int, int) {
  Registry& registry = GetRegistry();
  std::lock_guard<std::mutex> lock(registry.mutex);
  registry.variables[host_variable] = Variable{bytes, handle, {}};
  reinterpret_cast<Image*>(handle)->variables.push_back(host_variable);
}

void __cudaRegisterHostVar(void**, const char*, char*, size_t) {}

void __cudaRegisterManagedVar(void** handle, void** host_variable, char*, const char*, int, size_t bytes, int, int) {
  // The program reaches a managed variable through this pointer, from before main on.
  *host_variable = calloc(1, std::max(bytes, size_t{1}));
  Registry& registry = GetRegistry();
  std::lock_guard<std::mutex> lock(registry.mutex);
  registry.variables[host_variable] = Variable{bytes, handle, {}};
  reinterpret_cast<Image*>(handle)->variables.push_back(host_variable);
}

unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared_bytes, void* stream) {
  Pending().push_back({grid, block, shared_bytes, stream});
  return 0;
}

cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, size_t* shared_bytes, void* stream) {
  if (Pending().empty()) return Done(cudaErrorMissingConfiguration);
  const Configuration configuration = Pending().back();
  Pending().pop_back();
  *grid = configuration.grid;
  *block = configuration.block;
  *shared_bytes = configuration.shared_bytes;
  *static_cast<void**>(stream) = configuration.stream;
  return cudaSuccess;
}

#if CUDART_VERSION >= 12000
// What CUDA 13's compiler calls: the handle is asked for once, then launched.
cudaError_t __cudaGetKernel(cudaKernel_t* kernel, const void* host_function) {
  RUNTIME_TRY(Bind());
  CUfunction function;
  RUNTIME_TRY(FindFunction(host_function, &function));
  *kernel = reinterpret_cast<cudaKernel_t>(function);
  return cudaSuccess;
}

cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void**, size_t shared_bytes,
                               cudaStream_t stream) {
  RUNTIME_TRY(Bind());
  if (kernel == nullptr) return Done(cudaErrorInvalidDeviceFunction);
  return Launch(reinterpret_cast<CUfunction>(kernel), grid, block, shared_bytes, stream);
}

#endif

cudaError_t cudaLaunchKernel(const void* host_function, dim3 grid, dim3 block, void**, size_t shared_bytes,
                             cudaStream_t stream) {
  return LaunchHost(host_function, grid, block, shared_bytes, stream);
}

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* host_function, void**) {
  if (config == nullptr) return Done(cudaErrorInvalidValue);
  return LaunchHost(host_function, config->gridDim, config->blockDim, config->dynamicSmemBytes, config->stream);
}

cudaError_t cudaLaunchCooperativeKernel(const void* host_function, dim3 grid, dim3 block, void**, size_t shared_bytes,
                                        cudaStream_t stream) {
  return LaunchHost(host_function, grid, block, shared_bytes, stream);
}

cudaError_t cudaGetFuncBySymbol(cudaFunction_t* function, const void* host_function) {
  if (function == nullptr) return Done(cudaErrorInvalidValue);
  RUNTIME_TRY(Bind());
  return Done(FindFunction(host_function, function));
}

cudaError_t cudaFuncGetName(const char** name, const void* host_function) {
  if (name == nullptr) return Done(cudaErrorInvalidValue);
  RUNTIME_TRY(Bind());
  CUfunction function;
  RUNTIME_TRY(FindFunction(host_function, &function));
  return Done(DRIVER(cuFuncGetName)(name, function));
}

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void* host_function) {
  if (attributes == nullptr) return Done(cudaErrorInvalidValue);
  RUNTIME_TRY(Bind());
  CUfunction function;
  RUNTIME_TRY(FindFunction(host_function, &function));
  memset(attributes, 0, sizeof(*attributes));
  attributes->maxThreadsPerBlock = FunctionAttribute(function, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
  attributes->numRegs = FunctionAttribute(function, CU_FUNC_ATTRIBUTE_NUM_REGS);
  attributes->ptxVersion = FunctionAttribute(function, CU_FUNC_ATTRIBUTE_PTX_VERSION);
  attributes->binaryVersion = FunctionAttribute(function, CU_FUNC_ATTRIBUTE_BINARY_VERSION);
  attributes->maxDynamicSharedSizeBytes = FunctionAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
  return cudaSuccess;
}

cudaError_t cudaFuncSetAttribute(const void* host_function, cudaFuncAttribute attribute, int value) {
  RUNTIME_TRY(Bind());
  CUfunction function;
  RUNTIME_TRY(FindFunction(host_function, &function));
  return Done(DRIVER(cuFuncSetAttribute)(function, static_cast<CUfunction_attribute>(attribute), value));
}

cudaError_t cudaFuncSetCacheConfig(const void*, cudaFuncCache) { return Done(Bind()); }

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void* host_function,
                                                                   int block_size, size_t shared_bytes, unsigned) {
  RUNTIME_TRY(Bind());
  CUfunction function;
  RUNTIME_TRY(FindFunction(host_function, &function));
  return Done(DRIVER(cuOccupancyMaxActiveBlocksPerMultiprocessor)(blocks, function, block_size, shared_bytes));
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* host_function, int block_size,
                                                          size_t shared_bytes) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, host_function, block_size, shared_bytes, 0);
}

cudaError_t cudaGetSymbolAddress(void** address, const void* symbol) {
  if (address == nullptr) return Done(cudaErrorInvalidValue);
  CUdeviceptr pointer;
  RUNTIME_TRY(SymbolRange(symbol, 0, 0, &pointer));
  *address = reinterpret_cast<void*>(pointer);
  return cudaSuccess;
}

cudaError_t cudaGetSymbolSize(size_t* bytes, const void* symbol) {
  if (bytes == nullptr) return Done(cudaErrorInvalidValue);
  return Done(FindVariable(symbol, nullptr, bytes));
}

cudaError_t cudaMemcpyToSymbol(const void* symbol, const void* from, size_t bytes, size_t offset, cudaMemcpyKind) {
  CUdeviceptr to;
  RUNTIME_TRY(SymbolRange(symbol, offset, bytes, &to));
  return Done(DRIVER(cuMemcpy)(to, ToPointer(from), bytes));
}

cudaError_t cudaMemcpyToSymbolAsync(const void* symbol, const void* from, size_t bytes, size_t offset, cudaMemcpyKind,
                                    cudaStream_t stream) {
  CUdeviceptr to;
  RUNTIME_TRY(SymbolRange(symbol, offset, bytes, &to));
  return Done(DRIVER(cuMemcpyAsync)(to, ToPointer(from), bytes, stream));
}

cudaError_t cudaMemcpyFromSymbol(void* to, const void* symbol, size_t bytes, size_t offset, cudaMemcpyKind) {
  CUdeviceptr from;
  RUNTIME_TRY(SymbolRange(symbol, offset, bytes, &from));
  return Done(DRIVER(cuMemcpy)(ToPointer(to), from, bytes));
}

cudaError_t cudaMemcpyFromSymbolAsync(void* to, const void* symbol, size_t bytes, size_t offset, cudaMemcpyKind,
                                      cudaStream_t stream) {
  CUdeviceptr from;
  RUNTIME_TRY(SymbolRange(symbol, offset, bytes, &from));
  return Done(DRIVER(cuMemcpyAsync)(ToPointer(to), from, bytes, stream));
}

}  // extern "C"

}  // namespace vramtrack::simcuda
