// SPDX-License-Identifier: Apache-2.0
#include "tests/simcuda/runtime/driver.h"

#include <dlfcn.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <string>
#include <unordered_map>

#include "tests/simcuda/device/generated_tables.h"
#include "tests/simcuda/device/log.h"

namespace vramtrack::simcuda {
namespace {

constexpr int kPerThreadDefaultStream = 2;
// The first release with per-thread default streams.
constexpr int kPerThreadVersion = 7000;

// Every release of the runtime has its way; SIMCUDA_LOOKUP names another one.
const char* LookupFunction() {
  const char* chosen = getenv("SIMCUDA_LOOKUP");
  if (chosen != nullptr && *chosen != '\0') return chosen;
  return CUDART_VERSION >= 12000 ? "cuGetProcAddress_v2" : "cuGetProcAddress";
}

using LookUpWithStatus = CUresult (*)(const char*, void**, int, cuuint64_t, int*);
using LookUp = CUresult (*)(const char*, void**, int, cuuint64_t);

class Driver {
 public:
  Driver() {
    // Global, as NVIDIA's runtime does it: programs look for a driver that is loaded already.
    library_ = dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
    if (library_ == nullptr) {
      LogLine("no driver: %s", dlerror());
      return;
    }
    const std::string way = LookupFunction();
    if (way == "cuGetProcAddress_v2") {
      look_up_with_status_ = reinterpret_cast<LookUpWithStatus>(dlsym(library_, way.c_str()));
      // Later releases begin with a question that has no answer.
      if (CUDART_VERSION >= 12090) Ask("", 0, 0);
    } else if (way == "cuGetProcAddress") {
      look_up_ = reinterpret_cast<LookUp>(dlsym(library_, way.c_str()));
    }
    FindAll();
    if (dlsym(library_, "simcuda_marker") == nullptr) {
      LogLine("the driver that was loaded is not the simulated one");
      return;
    }
    usable_ = true;
  }

  bool usable() const { return usable_; }

  void* Find(const char* name) const {
    const auto found = functions_.find(name);
    return found != functions_.end() ? found->second : nullptr;
  }

 private:
  void FindAll() {
    FindFirst("cuInit", 2000);
    FindFirst("cuGetProcAddress", 11030);
    if (look_up_with_status_ != nullptr) FindFirst("cuGetProcAddress", 12000);
    for (size_t index = 0; index < simcuda_variant_count; ++index) {
      const SimcudaVariant& row = simcuda_variants[index];
      functions_[row.name] = Look(row.name, row.base, row.version, 0);
      if (*row.per_thread == '\0') continue;
      const int version = row.version > kPerThreadVersion ? row.version : kPerThreadVersion;
      functions_[row.per_thread] = Look(row.per_thread, row.base, version, kPerThreadDefaultStream);
    }
  }

  void FindFirst(const char* base, int version) { Look(base, base, version, 0); }

  // Releases before 11.3 had no look-up function: there, every function is a symbol.
  void* Look(const char* name, const char* base, int version, cuuint64_t flags) {
    if (look_up_ == nullptr && look_up_with_status_ == nullptr) return dlsym(library_, name);
    return Ask(base, version, flags);
  }

  void* Ask(const char* base, int version, cuuint64_t flags) {
    void* function = nullptr;
    int status = 0;
    const CUresult result = look_up_with_status_ != nullptr
                                ? look_up_with_status_(base, &function, version, flags, &status)
                                : look_up_(base, &function, version, flags);
    return result == CUDA_SUCCESS ? function : nullptr;
  }

  void* library_ = nullptr;
  LookUpWithStatus look_up_with_status_ = nullptr;
  LookUp look_up_ = nullptr;
  std::unordered_map<std::string, void*> functions_;
  bool usable_ = false;
};

// Never destroyed: programs call the runtime until the very end.
const Driver& GetDriver() {
  static const Driver& driver = *new Driver;
  return driver;
}

// Loads the driver and finds its functions, in the way and in the order that NVIDIA's runtimes have, shared and static
// alike: dlsym for the look-up function of the driver, then all functions at once through it, before cuInit. Happens at
// the first call; false if there is no driver or another one than the simulated.
bool LoadDriver() { return GetDriver().usable(); }

// The driver's function of that full name, "cuMemAlloc_v2"; nullptr if there is none. After LoadDriver.
void* FindInDriver(const char* name) { return GetDriver().Find(name); }

}  // namespace

// Plain data: what runs when a thread ends may still call.
struct ThreadState {
  int device;
  cudaError_t last_error;
};

// Of external linkage, because gold 1.16 mixes up the offsets of thread-local variables that are local to a file and
// looked up by a plain offset.
__attribute__((tls_model("initial-exec"), visibility("hidden"))) thread_local ThreadState thread_state;

namespace {

CUresult NotSupported() { return CUDA_ERROR_NOT_SUPPORTED; }

// Which primary contexts this runtime holds; a reset drops one.
std::atomic<bool> retained[64];

}  // namespace

void* FindDriverFunction(const char* name) {
  void* function = LoadDriver() ? FindInDriver(name) : nullptr;
  return function != nullptr ? function : reinterpret_cast<void*>(NotSupported);
}

cudaError_t Done(cudaError_t error) {
  if (error != cudaSuccess) thread_state.last_error = error;
  return error;
}

cudaError_t Initialize() {
  if (!LoadDriver()) return cudaErrorInsufficientDriver;
  static const CUresult result = DRIVER(cuInit)(0);
  return static_cast<cudaError_t>(result);
}

cudaError_t Bind() {
  RUNTIME_TRY(Initialize());
  CUcontext context = nullptr;
  const CUresult result = DRIVER(cuCtxGetCurrent)(&context);
  if (result != CUDA_SUCCESS) return static_cast<cudaError_t>(result);
  if (__builtin_expect(context != nullptr && retained[thread_state.device].load(std::memory_order_relaxed), 1)) {
    return cudaSuccess;
  }
  // A context that the program itself made current stays.
  if (context != nullptr && !IsPrimary(context, thread_state.device)) return cudaSuccess;
  return MakeCurrent(thread_state.device);
}

cudaError_t MakeCurrent(int device) {
  CUcontext context = nullptr;
  CUresult result = DRIVER(cuDevicePrimaryCtxRetain)(&context, device);
  if (result != CUDA_SUCCESS) return static_cast<cudaError_t>(result);
  if (retained[device].exchange(true)) DRIVER(cuDevicePrimaryCtxRelease_v2)(device);
  result = DRIVER(cuCtxSetCurrent)(context);
  if (result == CUDA_SUCCESS) thread_state.device = device;
  return static_cast<cudaError_t>(result);
}

bool IsPrimary(CUcontext context, int device) {
  // Asking for another device's would make it.
  CUdevice current = device;
  if (DRIVER(cuCtxGetDevice)(&current) == CUDA_SUCCESS && current != device) return false;
  CUcontext primary = nullptr;
  if (DRIVER(cuDevicePrimaryCtxRetain)(&primary, device) != CUDA_SUCCESS) return false;
  // A second reference is never needed, and without the first it stands for it.
  if (retained[device].exchange(true)) DRIVER(cuDevicePrimaryCtxRelease_v2)(device);
  return primary == context;
}

int ThreadDevice() {
  CUdevice device;
  if (DRIVER(cuCtxGetDevice)(&device) == CUDA_SUCCESS) return device;
  return thread_state.device;
}

void ForgetContext(int device) { retained[device] = false; }

extern "C" {

cudaError_t cudaGetLastError() {
  const cudaError_t error = thread_state.last_error;
  thread_state.last_error = cudaSuccess;
  return error;
}

cudaError_t cudaPeekAtLastError() { return thread_state.last_error; }

}  // extern "C"

}  // namespace vramtrack::simcuda
