// SPDX-License-Identifier: Apache-2.0
// Finding driver functions by name, and the names of errors.
#include <cuda.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "tests/simcuda/device/error_text.h"
#include "tests/simcuda/device/generated_tables.h"
#include "tests/simcuda/device/log.h"
#include "tests/simcuda/driver/entry_points.h"

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

CUresult Find(const char* symbol, void** function, int version, cuuint64_t flags,
              CUdriverProcAddressQueryResult* status) {
  if (symbol == nullptr || function == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *function = nullptr;
  bool known;
  const char* variant = FindVariant(symbol, version, &known);
  const std::string name = variant != nullptr ? variant : symbol;
  CUdriverProcAddressQueryResult found = CU_GET_PROC_ADDRESS_SUCCESS;
  if (known && variant == nullptr) {
    found = CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT;
  } else {
    if ((flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM) != 0) {
      *function = FindSymbol(name + "_ptsz");
      if (*function == nullptr) *function = FindSymbol(name + "_ptds");
    }
    if (*function == nullptr) *function = FindSymbol(name);
    if (*function == nullptr) found = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
  }
  SIMCUDA_LOG_CALL("entry point %s for version %d: %s", symbol, version, *function != nullptr ? name.c_str() : "none");
  if (status != nullptr) {
    *status = found;
    return CUDA_SUCCESS;
  }
  return *function != nullptr ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

}  // namespace

extern "C" {

CUresult cuGetProcAddress_v2(const char* symbol, void** function, int version, cuuint64_t flags,
                             CUdriverProcAddressQueryResult* status) {
  CUdriverProcAddressQueryResult found = CU_GET_PROC_ADDRESS_SUCCESS;
  const CUresult result = Find(symbol, function, version, flags, &found);
  if (status != nullptr) *status = found;
  if (result != CUDA_SUCCESS) return result;
  return found == CU_GET_PROC_ADDRESS_SUCCESS ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

CUresult cuGetProcAddress(const char* symbol, void** function, int version, cuuint64_t flags) {
  return Find(symbol, function, version, flags, nullptr);
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

void* simcuda_find_symbol(const char* name) { return FindSymbol(name); }

}  // extern "C"

}  // namespace vramtrack::simcuda
