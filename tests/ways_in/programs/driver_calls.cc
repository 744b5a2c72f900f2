// SPDX-License-Identifier: Apache-2.0
//
// usage: driver_calls WAY
//
// Each family of the driver's API once, by functions that are got in one WAY: symbol, dlsym, get_proc_address,
// get_proc_address_v1, entry_point, entry_point_by_version; per_thread in front, as in per_thread:dlsym, asks for the
// functions of per-thread default streams.
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <dlfcn.h>

#include <cstdlib>
#include <cstring>
#include <string>

#include "tests/ways_in/programs/tally.h"

// What a program calls that looks cudaGetDriverEntryPoint up by its name: the headers of 13 declare it no more.
using EntryPoint = cudaError_t (*)(const char*, void**, unsigned long long, cudaDriverEntryPointQueryResult*);

namespace {

vramtrack::Tally tally;
std::string way;
bool per_thread = false;

void* Resolve(const char* base, const char* exported, int version) {
  static void* const driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  void* found = nullptr;
  if (way == "dlsym") {
    if (per_thread) found = dlsym(driver, (std::string(exported) + "_ptsz").c_str());
    return found != nullptr ? found : dlsym(driver, exported);
  }
  const int asked = per_thread && version < 7000 ? 7000 : version;
  const auto flags = static_cast<cuuint64_t>(per_thread ? CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM
                                                        : CU_GET_PROC_ADDRESS_LEGACY_STREAM);
  if (way == "get_proc_address") {
    CUdriverProcAddressQueryResult status;
    using Function = CUresult (*)(const char*, void**, int, cuuint64_t, CUdriverProcAddressQueryResult*);
    static const auto look_up = reinterpret_cast<Function>(dlsym(driver, "cuGetProcAddress_v2"));
    look_up(base, &found, asked, flags, &status);
  } else if (way == "get_proc_address_v1") {
    using Function = CUresult (*)(const char*, void**, int, cuuint64_t);
    static const auto look_up = reinterpret_cast<Function>(dlsym(driver, "cuGetProcAddress"));
    look_up(base, &found, asked, flags);
  } else if (way == "entry_point") {
    static const auto look_up = reinterpret_cast<EntryPoint>(dlsym(RTLD_DEFAULT, "cudaGetDriverEntryPoint"));
    cudaDriverEntryPointQueryResult status;
    if (look_up != nullptr) look_up(base, &found, flags, &status);
  } else if (way == "entry_point_by_version") {
    cudaDriverEntryPointQueryResult status;
    cudaGetDriverEntryPointByVersion(base, &found, static_cast<unsigned>(asked), flags, &status);
  }
  return found;
}

template <typename Function>
Function* Get(Function* symbol, const char* base, const char* exported, int version) {
  if (way == "symbol") return symbol;
  auto* found = reinterpret_cast<Function*>(Resolve(base, exported, version));
  if (found == nullptr) {
    std::printf("wrong: %s is not there\n", base);
    std::exit(1);
  }
  return found;
}

// cuda.h turns names into those of their newest versions: `name` is what programs ask for, EXPORTED(name) what is
// there.
#define TEXT(x) #x
#define EXPORTED(x) TEXT(x)
#ifdef WITHOUT_DRIVER_SYMBOLS
#define SYMBOL(name) static_cast<decltype(&name)>(nullptr)
#else
#define SYMBOL(name) &name
#endif
// A macro between this one and Get() would turn #name into the name of the newest version: the driver knows cuMemAlloc,
// and not cuMemAlloc_v2.
#define CALL(name, version, ...)                                                           \
  do {                                                                                     \
    const CUresult error = Get(SYMBOL(name), #name, EXPORTED(name), version)(__VA_ARGS__); \
    if (error != CUDA_SUCCESS) tally.Wrong(#name, (int)error);                             \
  } while (false)

void DeviceMemory() {
  CUdeviceptr a, b, c;
  size_t pitch;
  CALL(cuMemAlloc, 3020, &a, 1000);
  tally.Allocated("device", 1000);
  CALL(cuMemAllocPitch, 3020, &b, &pitch, 100, 10, 4);
  tally.Allocated("pitched", pitch * 10);
  CALL(cuMemAllocManaged, 6000, &c, 5000, CU_MEM_ATTACH_GLOBAL);
  tally.Allocated("managed", 5000);
  CALL(cuMemFree, 3020, a);
  tally.Freed("device");
  CALL(cuMemFree, 3020, b);
  tally.Freed("pitched");
  CALL(cuMemFree, 3020, c);
  tally.Freed("managed");
  if (Get(SYMBOL(cuMemAlloc), "cuMemAlloc", EXPORTED(cuMemAlloc), 3020)(&a, size_t{1} << 60) ==
      CUDA_ERROR_OUT_OF_MEMORY)
    tally.Failed("device");
}

void Arrays() {
  CUarray a, b;
  CUmipmappedArray m;
  const CUDA_ARRAY_DESCRIPTOR flat = {64, 32, CU_AD_FORMAT_FLOAT, 2};
  const CUDA_ARRAY3D_DESCRIPTOR cube = {16, 16, 16, CU_AD_FORMAT_HALF, 4, 0};
  const CUDA_ARRAY3D_DESCRIPTOR levels = {64, 64, 0, CU_AD_FORMAT_UNSIGNED_INT8, 4, 0};
  CALL(cuArrayCreate, 3020, &a, &flat);
  CALL(cuArray3DCreate, 3020, &b, &cube);
  CALL(cuMipmappedArrayCreate, 5000, &m, &levels, 4);
  tally.Allocated("array", 64 * 32 * 8);
  tally.Allocated("array", 16 * 16 * 16 * 8);
  tally.Allocated("mipmapped_array", (64 * 64 + 32 * 32 + 16 * 16 + 8 * 8) * 4);
  CALL(cuArrayDestroy, 2000, a);
  CALL(cuArrayDestroy, 2000, b);
  CALL(cuMipmappedArrayDestroy, 5000, m);
  tally.Freed("array");
  tally.Freed("array");
  tally.Freed("mipmapped_array");
}

void StreamOrdered() {
  CUstream stream;
  CUmemoryPool pool;
  CUmemPoolProps props;
  std::memset(&props, 0, sizeof props);
  props.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  props.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  CUdeviceptr a, b;
  CALL(cuStreamCreate, 2000, &stream, CU_STREAM_DEFAULT);
  tally.Allocated("stream", 0);
  CALL(cuMemPoolCreate, 11020, &pool, &props);
  tally.Allocated("memory_pool", 0);
  CALL(cuMemAllocAsync, 11020, &a, 3000, stream);
  tally.Allocated("stream_ordered", 3000);
  CALL(cuMemAllocFromPoolAsync, 11020, &b, 4000, pool, stream);
  tally.Allocated("pool", 4000);
  CALL(cuMemFreeAsync, 11020, a, stream);
  tally.Freed("stream_ordered");
  CALL(cuMemFreeAsync, 11020, b, stream);
  tally.Freed("pool");
  CALL(cuStreamSynchronize, 2000, stream);
  CALL(cuMemPoolTrimTo, 11020, pool, 0);
  CALL(cuMemPoolDestroy, 11020, pool);
  tally.Freed("memory_pool");
  CALL(cuStreamDestroy, 4000, stream);
  tally.Freed("stream");
}

void VirtualMemory() {
  constexpr size_t kBytes = 4 << 20;
  CUmemAllocationProp properties;
  std::memset(&properties, 0, sizeof properties);
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  CUmemGenericAllocationHandle one, two, again;
  CUdeviceptr range;
  CALL(cuMemAddressReserve, 10020, &range, 2 * kBytes, 0, 0, 0);
  tally.Allocated("address_range", 2 * kBytes);
  CALL(cuMemCreate, 10020, &one, kBytes, &properties, 0);
  CALL(cuMemCreate, 10020, &two, kBytes, &properties, 0);
  tally.Allocated("physical", kBytes);
  tally.Allocated("physical", kBytes);
  CALL(cuMemMap, 10020, range, kBytes, 0, one, 0);
  CALL(cuMemMap, 10020, range + kBytes, kBytes, 0, two, 0);
  tally.Allocated("mapping", kBytes);
  tally.Allocated("mapping", kBytes);
  // A handle that was given out again has two owners.
  CALL(cuMemRetainAllocationHandle, 11000, &again, reinterpret_cast<void*>(range));
  if (again != one) tally.Wrong("another handle", 0);
  CALL(cuMemRelease, 10020, again);
  CALL(cuMemRelease, 10020, one);
  CALL(cuMemRelease, 10020, two);
  tally.Freed("physical");
  tally.Freed("physical");
  CALL(cuMemUnmap, 10020, range, 2 * kBytes);  // both at once
  tally.Freed("mapping");
  tally.Freed("mapping");
  CALL(cuMemAddressFree, 10020, range, 2 * kBytes);
  tally.Freed("address_range");
}

void HostMemory() {
  void *a, *b;
  void* own = std::aligned_alloc(4096, 8192);
  CALL(cuMemAllocHost, 3020, &a, 700);
  CALL(cuMemHostAlloc, 2020, &b, 800, CU_MEMHOSTALLOC_DEVICEMAP);
  tally.Allocated("pinned", 700);
  tally.Allocated("pinned", 800);
  CALL(cuMemHostRegister, 6050, own, 8192, 0);
  tally.Allocated("registered", 8192);
  CALL(cuMemHostUnregister, 4000, own);
  tally.Freed("registered");
  CALL(cuMemFreeHost, 2000, a);
  CALL(cuMemFreeHost, 2000, b);
  tally.Freed("pinned");
  tally.Freed("pinned");
  std::free(own);
}

void GraphMemory() {
  CUgraph graph;
  CUgraphNode allocating, freeing;
  CUDA_MEM_ALLOC_NODE_PARAMS parameters;
  std::memset(&parameters, 0, sizeof parameters);
  parameters.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  parameters.poolProps.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  parameters.bytesize = 6000;
  CALL(cuGraphCreate, 10000, &graph, 0);
  tally.Allocated("graph", 0);
  CALL(cuGraphAddMemAllocNode, 11040, &allocating, graph, nullptr, 0, &parameters);
  tally.Allocated("graph_memory", 6000);
  CALL(cuGraphAddMemFreeNode, 11040, &freeing, graph, &allocating, 1, parameters.dptr);
  tally.Freed("graph_memory");
  CALL(cuGraphDestroy, 10000, graph);
  tally.Freed("graph");
  CALL(cuDeviceGraphMemTrim, 11040, 0);
}

void Handles() {
  CUstream a;
  CUevent e;
  CUgraph created, captured, cloned;
  CUgraphExec exec;
  CALL(cuStreamCreateWithPriority, 5050, &a, CU_STREAM_NON_BLOCKING, 0);
  CALL(cuEventCreate, 2000, &e, CU_EVENT_DISABLE_TIMING);
  CALL(cuEventDestroy, 4000, e);
  tally.Allocated("stream", 0);
  tally.Allocated("event", 0);
  tally.Freed("event");
  CALL(cuGraphCreate, 10000, &created, 0);
  CALL(cuGraphClone, 10000, &cloned, created);
  CALL(cuStreamBeginCapture, 10010, a, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
  CALL(cuStreamEndCapture, 10000, a, &captured);
  CALL(cuGraphInstantiateWithFlags, 11040, &exec, created, 0);
  tally.Allocated("graph_exec", 0);
  CALL(cuGraphExecDestroy, 10000, exec);
  tally.Freed("graph_exec");
  for (CUgraph g : {created, captured, cloned}) {
    CALL(cuGraphDestroy, 10000, g);
    tally.Allocated("graph", 0);
    tally.Freed("graph");
  }
  CALL(cuStreamDestroy, 4000, a);
  tally.Freed("stream");
}

}  // namespace

int main(int argc, char** argv) {
  way = argc > 1 ? argv[1] : "symbol";
  if (way.rfind("per_thread:", 0) == 0) {
    per_thread = true;
    way.erase(0, strlen("per_thread:"));
  }
  CUcontext primary, own;
  CALL(cuInit, 2000, 0);
  CALL(cuDevicePrimaryCtxRetain, 7000, &primary, 0);
  CALL(cuDevicePrimaryCtxRetain, 7000, &primary, 0);  // counted, not another context
  tally.Allocated("context", 0);
  CALL(cuCtxSetCurrent, 4000, primary);
  DeviceMemory();
  Arrays();
  StreamOrdered();
  VirtualMemory();
  HostMemory();
  GraphMemory();
  Handles();
#if CUDA_VERSION >= 13000
  CALL(cuCtxCreate, 12050, &own, nullptr, 0, 0);
#else
  CALL(cuCtxCreate, 3020, &own, 0, 0);
#endif
  tally.Allocated("context", 0);
  CALL(cuCtxDestroy, 4000, own);
  tally.Freed("context");
  CALL(cuDevicePrimaryCtxRelease, 11000, 0);
  return tally.Print();
}
