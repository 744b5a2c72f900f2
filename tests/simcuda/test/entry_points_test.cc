// SPDX-License-Identifier: Apache-2.0
// Every way to find a driver function by name, and what is not simulated.
#include <cuda.h>
#include <cudaTypedefs.h>
#include <dlfcn.h>
#include <unistd.h>

#include <string>

#include "tests/simcuda/test/expect.h"

namespace vramtrack::simcuda {
namespace {

const With log("SIMCUDA_LOG_UNSUPPORTED", "1");

void* Loaded(const char* name) {
  void* library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
  EXPECT_NE(library, nullptr);
  return dlsym(library, name);
}

TEST(EntryPointsTest, the_version_that_is_asked_for_decides) {
  ASSERT_EQ(cuInit(0), CUDA_SUCCESS);
  struct {
    const char* name;
    int version;
    const char* function;
  } cases[] = {
      {"cuMemAlloc", 2000, "cuMemAlloc"},
      {"cuMemAlloc", 12000, "cuMemAlloc_v2"},
      {"cuCtxCreate", 11000, "cuCtxCreate_v2"},
      {"cuCtxCreate", 12000, "cuCtxCreate_v3"},
      {"cuCtxCreate", 12050, "cuCtxCreate_v4"},
      {"cuStreamGetCaptureInfo", 12000, "cuStreamGetCaptureInfo_v2"},
      {"cuMemCreate", 12000, "cuMemCreate"},
      {"cuMemAlloc_v2", 12000, "cuMemAlloc_v2"},
      {"cuGetProcAddress", 11030, "cuGetProcAddress"},
      {"cuGetProcAddress", 12000, "cuGetProcAddress_v2"},
  };
  for (const auto& each : cases) {
    void* function = nullptr;
    CUdriverProcAddressQueryResult status;
    EXPECT_EQ(cuGetProcAddress_v2(each.name, &function, each.version, 0, &status), CUDA_SUCCESS) << each.name;
    EXPECT_EQ(status, CU_GET_PROC_ADDRESS_SUCCESS);
    EXPECT_EQ(function, Loaded(each.function)) << each.name << " " << each.version;
    void* from_runtime = nullptr;
    cudaDriverEntryPointQueryResult runtime_status;
    ASSERT_CUDA(cudaGetDriverEntryPointByVersion(each.name, &from_runtime, static_cast<unsigned>(each.version),
                                                 cudaEnableDefault, &runtime_status));
    EXPECT_EQ(from_runtime, function);
    EXPECT_EQ(runtime_status, cudaDriverEntryPointSuccess);
  }
}

TEST(EntryPointsTest, a_name_that_is_not_there_is_said_so) {
  void* function = &function;
  CUdriverProcAddressQueryResult status;
  EXPECT_EQ(cuGetProcAddress_v2("cuNoSuchThing", &function, 12000, 0, &status), CUDA_ERROR_NOT_FOUND);
  EXPECT_EQ(status, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
  EXPECT_EQ(function, nullptr);
  EXPECT_EQ(cuGetProcAddress_v2("cuMemCreate", &function, 9000, 0, &status), CUDA_ERROR_NOT_FOUND);
  EXPECT_EQ(status, CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT);
  cudaDriverEntryPointQueryResult runtime_status;
  ASSERT_CUDA(cudaGetDriverEntryPointByVersion("cuNoSuchThing", &function, 12000, cudaEnableDefault, &runtime_status));
  EXPECT_EQ(runtime_status, cudaDriverEntryPointSymbolNotFound);
}

TEST(EntryPointsTest, a_per_thread_variant_does_the_same) {
  void* function = nullptr;
  ASSERT_EQ(
      cuGetProcAddress_v2("cuMemcpyHtoD", &function, 12000, CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM, nullptr),
      CUDA_SUCCESS);
  EXPECT_EQ(function, Loaded("cuMemcpyHtoD_v2_ptds"));
  ASSERT_CUDA(cudaFree(nullptr));
  void* device = nullptr;
  ASSERT_CUDA(cudaMalloc(&device, 4));
  const int sent = 42;
  int received = 0;
  EXPECT_EQ(reinterpret_cast<PFN_cuMemcpyHtoD_v3020>(function)(reinterpret_cast<CUdeviceptr>(device), &sent, 4),
            CUDA_SUCCESS);
  ASSERT_CUDA(cudaMemcpy(&received, device, 4, cudaMemcpyDeviceToHost));
  EXPECT_EQ(received, 42);
  ASSERT_CUDA(cudaFree(device));
}

TEST(EntryPointsTest, what_is_not_simulated_says_so_once) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const int saved = dup(STDERR_FILENO);
  dup2(ends[1], STDERR_FILENO);
  using NoArguments = CUresult (*)();
  for (int call = 0; call < 2; ++call) {
    EXPECT_EQ(reinterpret_cast<NoArguments>(Loaded("cuMulticastCreate"))(), CUDA_ERROR_NOT_SUPPORTED);
  }
  cudaExternalMemory_t external;
  EXPECT_EQ(cudaImportExternalMemory(&external, nullptr), cudaErrorNotSupported);
  EXPECT_EQ(cudaGetLastError(), cudaErrorNotSupported);
  dup2(saved, STDERR_FILENO);
  close(ends[1]);
  char said[1000];
  const ssize_t length = read(ends[0], said, sizeof(said));
  ASSERT_GT(length, 0);
  EXPECT_EQ(std::string(said, static_cast<size_t>(length)),
            "simcuda: cuMulticastCreate is not supported\nsimcuda: cudaImportExternalMemory is not supported\n");
  close(ends[0]);
  close(saved);
}

}  // namespace
}  // namespace vramtrack::simcuda
