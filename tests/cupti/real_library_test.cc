// SPDX-License-Identifier: Apache-2.0
//
// NVIDIA's own libcupti of a release: it has the functions that are called, and tells its version, before 13 without a
// driver, too.
#include <cupti.h>
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <set>
#include <string>

#include "cupti_tracer/cupti_abi.h"

namespace vramtrack::cupti {
namespace {

struct Function {
  const char* name;
  bool needed;
};
constexpr Function kFunctions[] = {
#define VRAMTRACK_CUPTI(name, needed, parameters) {#name, needed},
#include "cupti_tracer/cupti_functions.inc"
};

// What the functions take and return has the sizes that the headers say.
static_assert(sizeof(CUptiResult) == sizeof(int), "what they return");
static_assert(sizeof(CUpti_ActivityKind) == sizeof(uint32_t), "kinds");
static_assert(sizeof(CUpti_BuffersCallbackRequestFunc) == sizeof(RequestBuffer), "callbacks");

void* RealLibrary() {
  static void* const library = dlopen(getenv("REAL_CUPTI"), RTLD_NOW | RTLD_LOCAL);
  return library;
}

TEST(RealLibrary, HasTheFunctionsThatAreCalled) {
  ASSERT_NE(RealLibrary(), nullptr) << dlerror();
  std::set<std::string> missing;
  for (const Function& function : kFunctions) {
    if (dlsym(RealLibrary(), function.name) != nullptr) continue;
    EXPECT_FALSE(function.needed) << function.name;
    missing.insert(function.name);
  }
  // What is newer than 12.0 is asked for where it is.
#if CUPTI_API_VERSION >= 28
  EXPECT_EQ(missing, std::set<std::string>());
#else
  EXPECT_EQ(missing, (std::set<std::string>{"cuptiActivityEnableAllocationSource"}));
#endif
}

TEST(RealLibrary, TellsItsVersion) {
  ASSERT_NE(RealLibrary(), nullptr) << dlerror();
  const auto get = reinterpret_cast<decltype(&cuptiGetVersion)>(dlsym(RealLibrary(), "cuptiGetVersion"));
  ASSERT_NE(get, nullptr);
  uint32_t version = 0;
  const CUptiResult result = get(&version);
#if CUPTI_API_VERSION >= 130000
  if (result == CUPTI_ERROR_UNKNOWN) GTEST_SKIP() << "this release does not without a driver";
#endif
  EXPECT_EQ(result, CUPTI_SUCCESS);
  EXPECT_EQ(version, static_cast<uint32_t>(CUPTI_API_VERSION));
}

}  // namespace
}  // namespace vramtrack::cupti
