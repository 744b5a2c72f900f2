// SPDX-License-Identifier: Apache-2.0
#include "analyzer/attribution/library.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace vramtrack {
namespace {

ReportFrame Native(const std::string& function, const std::string& module) {
  ReportFrame frame;
  frame.function = function;
  frame.module = module;
  frame.language = Language::kCpp;
  return frame;
}

constexpr char kMemory[] = "/env/lib/python3.12/site-packages/cupy/cuda/memory.cpython-312-x86_64-linux-gnu.so";

// Stacks of CuPy 14.2 on an H100.
TEST(LibraryPool, OfCuPyIsKnownByItsClass) {
  const std::vector<ReportFrame> frames = {
      Native("__pyx_f_13cupy_backends_4cuda_3api_7runtime_malloc",
             "/env/cupy_backends/cuda/api/runtime.cpython-312-x86_64-linux-gnu.so"),
      Native("__pyx_pw_4cupy_4cuda_6memory_6Memory_1__init__", kMemory),
      Native("__pyx_f_4cupy_4cuda_6memory_22SingleDeviceMemoryPool__alloc", kMemory),
      Native("__pyx_f_4cupy_4cuda_6memory_alloc", kMemory),
  };
  ASSERT_NE(LibraryPoolOf(frames), nullptr);
  EXPECT_STREQ(LibraryPoolOf(frames)->name, "CuPy's memory pool");
}

TEST(LibraryPool, IsNotCuPyWithoutIt) {
  const std::vector<ReportFrame> frames = {
      Native("__pyx_pw_4cupy_4cuda_6memory_6Memory_1__init__", kMemory),
      Native("__pyx_pw_4cupy_4cuda_6memory_3_malloc", kMemory),
      Native("__pyx_f_4cupy_4cuda_6memory_alloc", kMemory),
  };
  EXPECT_EQ(LibraryPoolOf(frames), nullptr);
}

TEST(LibraryPool, MayBeThatOfAModuleWithoutNames) {
  EXPECT_NE(LibraryPoolOf({Native("memory.cpython-312-x86_64-linux-gnu.so+0x53ea0", kMemory)}), nullptr);
}

TEST(LibraryPool, OfRmmIsKnownInEachLibrary) {
  EXPECT_NE(LibraryPoolOf({Native("rmm::mr::pool_memory_resource::expand_pool", "/env/lib/libcudf.so")}), nullptr);
  EXPECT_EQ(LibraryPoolOf({Native("libcudf.so+0x53ea0", "/env/lib/libcudf.so")}), nullptr);
}

TEST(LibraryPool, IsNotAProgramsOwn) {
  EXPECT_EQ(LibraryPoolOf({Native("MyMemoryPool::Take", "/home/me/job")}), nullptr);
}

}  // namespace
}  // namespace vramtrack
