// SPDX-License-Identifier: Apache-2.0
// Finding driver functions by name, the names of errors, and calls that are not simulated.
#include <cuda.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "tests/simcuda/device/error_text.h"
#include "tests/simcuda/device/generated_tables.h"
#include "tests/simcuda/device/log.h"
#include "tests/simcuda/driver/current.h"

#undef cuGetProcAddress

namespace vramtrack::simcuda {
namespace {

void* FindSymbol(const std::string& name) {
  const SimcudaSymbol* end = simcuda_symbols + simcuda_symbol_count;
  const SimcudaSymbol* found =
      std::lower_bound(simcuda_symbols, end, name.c_str(),
                       [](const SimcudaSymbol& symbol, const char* wanted) { return strcmp(symbol.name, wanted) < 0; });
  return found != end && name == found->name ? found->address : nullptr;
}

// The variant of `base` that a program made for `version` means; `known` tells whether there is any.
const char* FindVariant(const char* base, int version, bool* known) {
  const SimcudaVariant* end = simcuda_variants + simcuda_variant_count;
  const SimcudaVariant* variant =
      std::lower_bound(simcuda_variants, end, base,
                       [](const SimcudaVariant& entry, const char* wanted) { return strcmp(entry.base, wanted) < 0; });
  const char* best = nullptr;
  *known = false;
  for (; variant != end && strcmp(variant->base, base) == 0; ++variant) {
    *known = true;
    if (variant->version <= version) best = variant->name;
  }
  return best;
}

bool IsOfVersion(const std::string& name) {
  const size_t end = name.rfind("_v");
  return end != std::string::npos && end + 3 == name.size() && name[end + 2] >= '2' && name[end + 2] <= '9';
}

int DriverVersion() {
  int version;
  cuDriverGetVersion(&version);
  return version;
}

// *function is nullptr where there is none, and `status` says why.
CUresult Find(const char* symbol, void** function, int version, cuuint64_t flags,
              CUdriverProcAddressQueryResult* status) {
  constexpr cuuint64_t kEveryFlag = CU_GET_PROC_ADDRESS_LEGACY_STREAM | CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
  if (symbol == nullptr || function == nullptr || (flags & ~kEveryFlag) != 0) return CUDA_ERROR_INVALID_VALUE;
  *function = nullptr;
  if (version > DriverVersion()) return CUDA_ERROR_INVALID_VALUE;
  bool known;
  // As the driver: it knows no name of a version.
  if (IsOfVersion(symbol)) {
    *status = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    SIMCUDA_LOG_CALL("entry point %s: none, as it is the name of a version", symbol);
    return CUDA_SUCCESS;
  }
  const char* variant = FindVariant(symbol, version, &known);
  const std::string name = variant != nullptr ? variant : symbol;
  *status = CU_GET_PROC_ADDRESS_SUCCESS;
  std::string exported = name;
  if (known && variant == nullptr) {
    *status = CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT;
  } else {
    if ((flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM) != 0) {
      for (const char* suffix : {"_ptsz", "_ptds"}) {
        if (*function != nullptr) continue;
        exported = name + suffix;
        *function = FindSymbol(exported);
      }
    }
    if (*function == nullptr) *function = FindSymbol(exported = name);
    if (*function == nullptr) *status = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
  }
  SIMCUDA_LOG_CALL("entry point %s for version %d, flags %llu: %s", symbol, version,
                   static_cast<unsigned long long>(flags), *function != nullptr ? exported.c_str() : "none");
  return CUDA_SUCCESS;
}

// What the functions of programs with per-thread default streams take where nothing is asked for.
cuuint64_t PerThread(cuuint64_t flags) {
  constexpr cuuint64_t kPerThread = CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
  return flags == CU_GET_PROC_ADDRESS_DEFAULT ? kPerThread : flags;
}

}  // namespace

extern "C" {

// The second version answers with success and no function where the first one fails.
CUresult cuGetProcAddress_v2(const char* symbol, void** function, int version, cuuint64_t flags,
                             CUdriverProcAddressQueryResult* status) {
  CUdriverProcAddressQueryResult found;
  SIMCUDA_TRY(Find(symbol, function, version, flags, &found));
  if (status != nullptr) *status = found;
  return CUDA_SUCCESS;
}

CUresult cuGetProcAddress(const char* symbol, void** function, int version, cuuint64_t flags) {
  CUdriverProcAddressQueryResult found;
  SIMCUDA_TRY(Find(symbol, function, version, flags, &found));
  return found == CU_GET_PROC_ADDRESS_SUCCESS ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

CUresult cuGetProcAddress_v2_ptsz(const char* symbol, void** function, int version, cuuint64_t flags,
                                  CUdriverProcAddressQueryResult* status) {
  return cuGetProcAddress_v2(symbol, function, version, PerThread(flags), status);
}

CUresult cuGetProcAddress_ptsz(const char* symbol, void** function, int version, cuuint64_t flags) {
  return cuGetProcAddress(symbol, function, version, PerThread(flags));
}

CUresult cuGetErrorName(CUresult error, const char** name) {
  if (name == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *name = nullptr;
  for (size_t index = 0; index < simcuda_error_count; ++index) {
    if (simcuda_errors[index].code == error) *name = simcuda_errors[index].name;
  }
  return *name != nullptr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGetErrorString(CUresult error, const char** text) {
  const char* name;
  if (text == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *text = nullptr;
  if (cuGetErrorName(error, &name) != CUDA_SUCCESS) return CUDA_ERROR_INVALID_VALUE;
  *text = ErrorText(error);
  return CUDA_SUCCESS;
}

CUresult cuProfilerStart() { return CUDA_SUCCESS; }
CUresult cuProfilerStop() { return CUDA_SUCCESS; }

// Tells the simulated runtime that this is not a real driver.
extern __attribute__((visibility("default"))) const char simcuda_marker;
const char simcuda_marker = 1;

}  // extern "C"

extern "C" __attribute__((visibility("hidden"))) int simcuda_unsupported(const char* name, char* said) {
  if (GetOptions().log_unsupported && __atomic_exchange_n(said, 1, __ATOMIC_RELAXED) == 0) {
    LogLine("%s is not supported", name);
  }
  return CUDA_ERROR_NOT_SUPPORTED;
}

}  // namespace vramtrack::simcuda
