// SPDX-License-Identifier: Apache-2.0
// A library that the driver is told to load.
#include <cuda.h>
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

namespace vramtrack::simcuda {
namespace {

const std::string library = std::string(getenv("INJECTED_LIBRARY"));

// The exit code of a process of its own that runs `body`: the driver loads one library in a process's life.
template <typename Body>
int InChild(const std::string& path, Body body) {
  const pid_t child = fork();
  if (child == 0) {
    setenv("CUDA_INJECTION64_PATH", path.c_str(), 1);
    _exit(body());
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

template <typename T>
T* Injected(const char* name) {
  void* loaded = dlopen(library.c_str(), RTLD_NOW | RTLD_NOLOAD);
  return loaded == nullptr ? nullptr : static_cast<T*>(dlsym(loaded, name));
}

TEST(InjectionTest, is_initialized_once_at_the_first_cuInit) {
  EXPECT_EQ(InChild(library,
                    [] {
                      int version;
                      if (cuDriverGetVersion(&version) != CUDA_SUCCESS) return 1;
                      if (Injected<int>("injected_calls") != nullptr) return 2;
                      if (cuInit(0) != CUDA_SUCCESS || cuInit(0) != CUDA_SUCCESS) return 3;
                      const int* calls = Injected<int>("injected_calls");
                      return calls != nullptr && *calls == 1 ? 0 : 4;
                    }),
            0);
}

TEST(InjectionTest, may_use_the_driver) {
  EXPECT_EQ(InChild(library,
                    [] {
                      if (cuInit(0) != CUDA_SUCCESS) return 1;
                      return *Injected<CUresult>("injected_init") == CUDA_SUCCESS &&
                                     *Injected<CUresult>("injected_count") == CUDA_SUCCESS
                                 ? 0
                                 : 2;
                    }),
            0);
}

TEST(InjectionTest, stays_out_of_the_global_scope) {
  EXPECT_EQ(InChild(library, [] { return cuInit(0) == CUDA_SUCCESS ? 0 : 1; }), 0);
  EXPECT_EQ(InChild(library,
                    [] {
                      cuInit(0);
                      return dlsym(RTLD_DEFAULT, "InitializeInjection") == nullptr ? 0 : 1;
                    }),
            0);
}

TEST(InjectionTest, what_cannot_be_loaded_is_left_aside) {
  for (const std::string& path : {std::string("/nowhere/libnothing.so"), std::string(), std::string("libc.so.6")}) {
    EXPECT_EQ(InChild(path, [] { return cuInit(0) == CUDA_SUCCESS ? 0 : 1; }), 0) << path;
  }
}

}  // namespace
}  // namespace vramtrack::simcuda
