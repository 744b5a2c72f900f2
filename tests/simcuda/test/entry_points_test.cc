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

using LookUp = CUresult (*)(const char*, void**, int, cuuint64_t);
using LookUpWithStatus = CUresult (*)(const char*, void**, int, cuuint64_t, int*);

TEST(EntryPointsTest, a_name_that_is_not_there_is_said_so) {
  void* function = &function;
  CUdriverProcAddressQueryResult status;
  EXPECT_EQ(cuGetProcAddress_v2("cuNoSuchThing", &function, 12000, 0, &status), CUDA_SUCCESS);
  EXPECT_EQ(status, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
  EXPECT_EQ(function, nullptr);
  // Driver 580 knows no name of a version.
  EXPECT_EQ(cuGetProcAddress_v2("cuMemAlloc_v2", &function, 12000, 0, &status), CUDA_SUCCESS);
  EXPECT_EQ(status, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
  EXPECT_EQ(function, nullptr);
  EXPECT_EQ(cuGetProcAddress_v2("cuMemCreate", &function, 9000, 0, &status), CUDA_SUCCESS);
  EXPECT_EQ(status, CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT);
  EXPECT_EQ(function, nullptr);
  EXPECT_EQ(cuGetProcAddress_v2("", &function, 0, 0, &status), CUDA_SUCCESS);
  EXPECT_EQ(function, nullptr);
  EXPECT_EQ(cuGetProcAddress_v2("cuMemCreate", &function, 99000, 0, &status), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuGetProcAddress_v2("cuMemCreate", &function, 12000, 4, &status), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuGetProcAddress_v2(nullptr, &function, 12000, 0, &status), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuGetProcAddress_v2("cuMemCreate", nullptr, 12000, 0, &status), CUDA_ERROR_INVALID_VALUE);
  cudaDriverEntryPointQueryResult runtime_status;
  ASSERT_CUDA(cudaGetDriverEntryPointByVersion("cuNoSuchThing", &function, 12000, cudaEnableDefault, &runtime_status));
  EXPECT_EQ(runtime_status, cudaDriverEntryPointSymbolNotFound);
}

TEST(EntryPointsTest, the_first_look_up_function_fails_where_the_second_answers) {
  const auto first = reinterpret_cast<LookUp>(Loaded("cuGetProcAddress"));
  void* function = &function;
  EXPECT_EQ(first("cuNoSuchThing", &function, 11080, 0), CUDA_ERROR_NOT_FOUND);
  EXPECT_EQ(function, nullptr);
  EXPECT_EQ(first("cuMemCreate", &function, 11020, 0), CUDA_SUCCESS);
  EXPECT_EQ(function, Loaded("cuMemCreate"));
}

TEST(EntryPointsTest, a_per_thread_variant_is_found_where_there_is_one) {
  struct {
    const char* name;
    cuuint64_t flags;
    const char* function;
  } cases[] = {
      {"cuMemAllocAsync", CU_GET_PROC_ADDRESS_DEFAULT, "cuMemAllocAsync"},
      {"cuMemAllocAsync", CU_GET_PROC_ADDRESS_LEGACY_STREAM, "cuMemAllocAsync"},
      {"cuMemAllocAsync", CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM, "cuMemAllocAsync_ptsz"},
      {"cuMemFreeAsync", CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM, "cuMemFreeAsync_ptsz"},
      {"cuMemcpyHtoD", CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM, "cuMemcpyHtoD_v2_ptds"},
      {"cuMemAlloc", CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM, "cuMemAlloc_v2"},
      {"cuGetProcAddress", CU_GET_PROC_ADDRESS_DEFAULT, "cuGetProcAddress_v2"},
      {"cuGetProcAddress", CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM, "cuGetProcAddress_v2_ptsz"},
  };
  const auto per_thread = reinterpret_cast<LookUpWithStatus>(Loaded("cuGetProcAddress_v2_ptsz"));
  for (const auto& each : cases) {
    void* function = nullptr;
    EXPECT_EQ(cuGetProcAddress_v2(each.name, &function, 12000, each.flags, nullptr), CUDA_SUCCESS);
    EXPECT_EQ(function, Loaded(each.function)) << each.name << " " << each.flags;
    // A program with per-thread default streams means their functions where it says nothing.
    if (each.flags == CU_GET_PROC_ADDRESS_DEFAULT) continue;
    const cuuint64_t flags = each.flags == CU_GET_PROC_ADDRESS_LEGACY_STREAM ? each.flags : CU_GET_PROC_ADDRESS_DEFAULT;
    EXPECT_EQ(per_thread(each.name, &function, 12000, flags, nullptr), CUDA_SUCCESS);
    EXPECT_EQ(function, Loaded(each.function)) << each.name;
  }
}

TEST(EntryPointsTest, the_runtime_hands_out_per_thread_variants_too) {
  void* function = nullptr;
  ASSERT_CUDA(cudaGetDriverEntryPointByVersion("cuMemAllocAsync", &function, 11020, cudaEnablePerThreadDefaultStream));
  EXPECT_EQ(function, Loaded("cuMemAllocAsync_ptsz"));
  using ByVersion =
      cudaError_t (*)(const char*, void**, unsigned, unsigned long long, cudaDriverEntryPointQueryResult*);
  const auto by_version = reinterpret_cast<ByVersion>(dlsym(RTLD_DEFAULT, "cudaGetDriverEntryPointByVersion_ptsz"));
  ASSERT_NE(by_version, nullptr);
  ASSERT_CUDA(by_version("cuMemAllocAsync", &function, 11020, cudaEnableDefault, nullptr));
  EXPECT_EQ(function, Loaded("cuMemAllocAsync_ptsz"));
  ASSERT_CUDA(by_version("cuMemAllocAsync", &function, 11020, cudaEnableLegacyStream, nullptr));
  EXPECT_EQ(function, Loaded("cuMemAllocAsync"));
}

TEST(EntryPointsTest, a_per_thread_variant_does_the_same) {
  void* function = nullptr;
  ASSERT_EQ(
      cuGetProcAddress_v2("cuMemcpyHtoD", &function, 12000, CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM, nullptr),
      CUDA_SUCCESS);
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
    EXPECT_EQ(reinterpret_cast<NoArguments>(Loaded("cuGLInit"))(), CUDA_ERROR_NOT_SUPPORTED);
  }
  EXPECT_EQ(cudaGraphDebugDotPrint(nullptr, nullptr, 0), cudaErrorNotSupported);
  EXPECT_EQ(cudaGetLastError(), cudaErrorNotSupported);
  dup2(saved, STDERR_FILENO);
  close(ends[1]);
  char said[1000];
  const ssize_t length = read(ends[0], said, sizeof(said));
  ASSERT_GT(length, 0);
  EXPECT_EQ(std::string(said, static_cast<size_t>(length)),
            "simcuda: cuGLInit is not supported\nsimcuda: cudaGraphDebugDotPrint is not supported\n");
  close(ends[0]);
  close(saved);
}

}  // namespace
}  // namespace vramtrack::simcuda
