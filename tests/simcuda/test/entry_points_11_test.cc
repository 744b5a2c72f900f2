// SPDX-License-Identifier: Apache-2.0
// How CUDA 11 finds driver functions by name: without a status, and with the version of the runtime.
#include <cuda.h>
#include <dlfcn.h>

#include "tests/simcuda/test/expect.h"

namespace vramtrack::simcuda {
namespace {

void* Loaded(const char* name) {
  void* library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
  EXPECT_NE(library, nullptr);
  return dlsym(library, name);
}

TEST(EntryPoints11Test, the_driver_answers_by_version) {
  ASSERT_EQ(cuInit(0), CUDA_SUCCESS);
  struct {
    const char* name;
    int version;
    const char* function;
  } cases[] = {
      {"cuMemAlloc", 3020, "cuMemAlloc_v2"},
      {"cuCtxCreate", 3020, "cuCtxCreate_v2"},
      {"cuCtxCreate", 11040, "cuCtxCreate_v3"},
      {"cuGetProcAddress", 11030, "cuGetProcAddress"},
  };
  for (const auto& each : cases) {
    void* function = nullptr;
    EXPECT_EQ(cuGetProcAddress(each.name, &function, each.version, CU_GET_PROC_ADDRESS_DEFAULT), CUDA_SUCCESS);
    EXPECT_EQ(function, Loaded(each.function)) << each.name << " " << each.version;
  }
  void* function = nullptr;
  EXPECT_EQ(cuGetProcAddress("cuMemAllocAsync", &function, 11010, CU_GET_PROC_ADDRESS_DEFAULT), CUDA_ERROR_NOT_FOUND);
}

TEST(EntryPoints11Test, the_runtime_answers_for_its_own_version) {
  void* function = nullptr;
  ASSERT_CUDA(cudaGetDriverEntryPoint("cuMemAlloc", &function, cudaEnableDefault));
  EXPECT_EQ(function, Loaded("cuMemAlloc_v2"));
  ASSERT_CUDA(cudaGetDriverEntryPoint("cuMemAllocAsync", &function, cudaEnablePerThreadDefaultStream));
  EXPECT_EQ(function, Loaded("cuMemAllocAsync_ptsz"));
  // The fourth version came with 12.5.
  ASSERT_CUDA(cudaGetDriverEntryPoint("cuCtxCreate", &function, cudaEnableDefault));
  EXPECT_EQ(function, Loaded("cuCtxCreate_v3"));
  EXPECT_EQ(cudaGetDriverEntryPoint("cuNoSuchThing", &function, cudaEnableDefault), cudaErrorSymbolNotFound);
  EXPECT_EQ(cudaGetLastError(), cudaErrorSymbolNotFound);
}

}  // namespace
}  // namespace vramtrack::simcuda
