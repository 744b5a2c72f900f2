// SPDX-License-Identifier: Apache-2.0

#include "analyzer/symbols/demangle.h"

#include <gtest/gtest.h>

namespace vramtrack {
namespace {

TEST(DemangleTest, ReadsMangledNamesAndLeavesOthers) {
  EXPECT_EQ(Demangle("_ZN1a1fEi"), "a::f(int)");
  EXPECT_EQ(Demangle("_Z1fi.cold"), "f(int) [clone .cold]");
  EXPECT_EQ(Demangle("cudaMalloc"), "cudaMalloc");
  EXPECT_EQ(Demangle(""), "");
  // A type name to the demangler, a function name to us.
  EXPECT_EQ(Demangle("i"), "i");
}

TEST(DemangleTest, LeavesWronglyMangledNames) {
  EXPECT_EQ(Demangle("_Z"), "_Z");
  EXPECT_EQ(Demangle("_ZN1a"), "_ZN1a");
  const std::string huge = "_Z" + std::string(1 << 20, 'P') + "i";
  EXPECT_EQ(Demangle(huge), huge);
}

TEST(DemangleTest, OutlinesNamesThatAreTooLongForTheRuntime) {
  const std::string arguments = "I" + std::string(2000, 'i') + "EvT_";
  EXPECT_EQ(Demangle("_ZN7cutlass13device_kernel" + arguments), "cutlass::device_kernel<...>");
  EXPECT_EQ(Demangle("_ZN12_GLOBAL__N_14copyILi4E" + arguments), "(anonymous namespace)::copy<...>");
  EXPECT_EQ(Demangle("_Z4copy" + arguments), "copy<...>");
  EXPECT_EQ(Demangle("_Z1f" + std::string(2000, 'i')), "f");
  const std::string bad_length = "_Z99999999999999999999999" + arguments;
  EXPECT_EQ(Demangle(bad_length), bad_length);
}

TEST(DemangleTest, ReadsNamesOfRust) {
  EXPECT_EQ(Demangle("_ZN4leak5Cache3add17h0123456789abcdefE"), "leak::Cache::add");
  EXPECT_EQ(Demangle("_RNvMC4leakNtB2_5Cache3add"), "<leak::Cache>::add");
  EXPECT_EQ(Demangle("_RNCNvC4leak4main0B3_"), "leak::main::{closure#0}");
  EXPECT_EQ(Demangle("_RNv"), "_RNv");
  const std::string deep = "_RIC1a" + std::string(1 << 20, 'T');
  EXPECT_EQ(Demangle(deep), deep);
}

// Each argument is a pair of the one before, so that the whole name has 2^N words.
TEST(DemangleTest, StopsAtNamesWhoseSubstitutionsDouble) {
  constexpr std::string_view kDigits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
  std::string cpp = "_ZN1a1fESt4pairIiiE";
  for (size_t i = 2; i < 32; ++i) {
    const std::string last = std::string("S") + kDigits[i] + "_";
    cpp += "S0_I" + last + last + "E";
  }
  EXPECT_LT(Demangle(cpp).size(), 1u << 16);
  std::string rust = "INvC1a1f";
  constexpr std::string_view kSixtyTwo = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
  size_t last = rust.size();
  rust += "TiiE";
  for (int i = 0; i < 30; ++i) {
    size_t number = last - 1;
    std::string reference;
    for (; number > 0; number /= 62) reference.insert(reference.begin(), kSixtyTwo[number % 62]);
    last = rust.size();
    rust += "TB" + reference + "_B" + reference + "_E";
  }
  EXPECT_EQ(Demangle("_R" + rust + "E"), "_R" + rust + "E");
}

TEST(DemangleTest, NamesTheKernelOfALaunchStub) {
  EXPECT_EQ(Demangle("_Z24__device_stub__Z5plainPfPf"), "plain(float*) [launch stub]");
  EXPECT_EQ(Demangle("_ZL69__device_stub__ZN36_GLOBAL__N__89b8bf71_4_t_cu_acc5a52f4anonIfEEvPT_iPfi"),
            "void (anonymous namespace)::anon<float>(float*, int) [launch stub]");
  EXPECT_EQ(Demangle("__device_stub__Z5plainPf"), "plain(float*) [launch stub]");
  EXPECT_EQ(Demangle("__device_stub__oddly_named"), "__device_stub__oddly_named");
  EXPECT_TRUE(IsCudaLaunchStub("_Z24__device_stub__Z5plainPfPf"));
  EXPECT_TRUE(IsCudaLaunchStub("(anonymous namespace)::__wrapper__device_stub_anon<float>"));
  EXPECT_FALSE(IsCudaLaunchStub("_Z5plainPf"));
}

}  // namespace
}  // namespace vramtrack
