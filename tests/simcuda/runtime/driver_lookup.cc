// SPDX-License-Identifier: Apache-2.0
#include "tests/simcuda/runtime/driver_lookup.h"

#include <cuda.h>
#include <cuda_runtime_api.h>
#include <dlfcn.h>

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

}  // namespace

bool LoadDriver() { return GetDriver().usable(); }

void* FindInDriver(const char* name) { return GetDriver().Find(name); }

}  // namespace vramtrack::simcuda
