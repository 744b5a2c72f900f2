// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "analyzer/attribution/blame.h"
#include "analyzer/attribution/library.h"
#include "analyzer/attribution/stack_symbolizer.h"

namespace vramtrack {
namespace {

TEST(Library, PlumbingIsToldFromLibrariesThatDecide) {
  for (const char* path : {"/usr/lib/libcudart.so.12", "/x/libcudart-d0da41ae.so.11.0", "/usr/lib/libcuda.so.1",
                           "/opt/libvramtrack.so", "/opt/libvramtrack.so (deleted)", "libcuda.so.535.54.03"}) {
    EXPECT_TRUE(IsAllocationPlumbing(path)) << path;
  }
  for (const char* path : {"/usr/lib/libcublas.so.12", "/usr/lib/libcudnn.so.9", "/home/libcuda/train",
                           "/opt/libcudaapp.so", "/opt/libtorch_cuda.so", ""}) {
    EXPECT_FALSE(IsAllocationPlumbing(path)) << path;
  }
  EXPECT_TRUE(IsFrameworkAllocator("/env/torch/lib/libc10_cuda.so"));
  EXPECT_FALSE(IsFrameworkAllocator("/env/torch/lib/libtorch_cuda.so"));
  EXPECT_EQ(ModuleName("/a/b/libx.so (deleted)"), "libx.so");
  EXPECT_EQ(ModuleName("train"), "train");
}

ReportFrame At(const std::string& function, uint32_t line) {
  ReportFrame frame;
  frame.function = function;
  frame.file = "train.cc";
  frame.line = line;
  return frame;
}

// Return addresses and the functions at them, as a clean site's stack is read.
void AddClean(const std::vector<std::vector<ReportFrame>>& stack, BlameFinder* blame, size_t* asked = nullptr) {
  size_t next = 0;
  blame->AddClean([&]() { return next < stack.size() ? stack[next++] : std::vector<ReportFrame>(); });
  if (asked != nullptr) *asked = next;
}

TEST(Blame, SkipsTheWrapperThatCleanSitesUseToo) {
  const std::vector<ReportFrame> leak = {At("Buffer", 3), At("Cache", 40), At("Step", 90), At("main", 7)};
  BlameFinder blame;
  blame.AddLeak(leak);
  EXPECT_EQ(blame.Blame(leak), 0u);
  AddClean({{At("Buffer", 3)}, {At("Layer", 20)}, {At("main", 7)}}, &blame);
  EXPECT_EQ(blame.Blame(leak), 1u);
  AddClean({{At("Buffer", 3)}, {At("Cache", 40)}, {At("Setup", 50)}}, &blame);
  EXPECT_EQ(blame.Blame(leak), 2u);
}

TEST(Blame, CodeOfNoFileIsNobodys) {
  ReportFrame generated;
  generated.function = "unknown code";
  const std::vector<ReportFrame> leak = {At("newBuffer", 5), generated, At("main", 7)};
  BlameFinder blame;
  blame.AddLeak(leak);
  AddClean({{At("newBuffer", 5)}, {At("other", 9)}}, &blame);
  EXPECT_EQ(blame.Blame(leak), 2u);
}

TEST(Blame, ATemplateIsOneWrapperForAllItsTypes) {
  const std::vector<ReportFrame> leak = {At("int* device_new<int>(unsigned long)", 8), At("energy", 20),
                                         At("main", 30)};
  BlameFinder blame;
  blame.AddLeak(leak);
  AddClean({{At("float* device_new<float>(unsigned long)", 8)}, {At("forces", 10)}, {At("main", 30)}}, &blame);
  EXPECT_EQ(blame.Blame(leak), 1u);
}

TEST(Blame, InlinedFunctionsCountAsFrames) {
  // The wrapper is inlined into different callers: its return addresses differ, its place in the source does not.
  const std::vector<ReportFrame> leak = {At("Buffer", 3), At("Step", 90), At("main", 7)};
  BlameFinder blame;
  blame.AddLeak(leak);
  AddClean({{At("Buffer", 3), At("Layer", 20)}, {At("main", 7)}}, &blame);
  EXPECT_EQ(blame.Blame(leak), 1u);
}

TEST(Blame, AWholeStackSharedWithACleanSiteBlamesItsInnermostFrame) {
  const std::vector<ReportFrame> leak = {At("Buffer", 3), At("main", 7)};
  BlameFinder blame;
  blame.AddLeak(leak);
  AddClean({{At("Buffer", 3)}, {At("main", 7)}, {At("start", 1)}}, &blame);
  EXPECT_EQ(blame.Blame(leak), 0u);
  EXPECT_EQ(blame.Blame({At("unknown", 1)}), 0u);
}

TEST(Blame, WhatTheFirstCallAtALeaksPlaceLeftTellsNothingApart) {
  const std::vector<ReportFrame> leak = {At("Buffer", 3), At("Step", 90), At("main", 7)};
  BlameFinder blame;
  blame.AddLeak(leak);
  AddClean({{At("Buffer", 3)}, {At("Step", 91)}, {At("main", 7)}}, &blame);
  AddClean({{At("Buffer", 3)}, {At("Step", 90)}, {At("main", 7)}}, &blame);
  EXPECT_EQ(blame.Blame(leak), 1u);
}

TEST(Blame, OfAFunctionThatCallsItselfTheLineThatAllocates) {
  const std::vector<ReportFrame> leak = {At("Buffer", 3), At("Cycle", 39), At("Cycle", 40), At("Cycle", 40),
                                         At("main", 7)};
  BlameFinder blame;
  blame.AddLeak(leak);
  AddClean({{At("Buffer", 3)}, {At("Cycle", 39)}, {At("Cycle", 40)}, {At("main", 7)}}, &blame);
  EXPECT_EQ(blame.Blame(leak), 1u);
}

TEST(Blame, CleanStacksAreReadOnlyAsFarAsTheyAreLikeALeak) {
  BlameFinder blame;
  blame.AddLeak({At("Buffer", 3), At("Step", 90), At("main", 7)});
  size_t asked = 0;
  AddClean({{At("Other", 1)}, {At("Step", 90)}, {At("main", 7)}}, &blame, &asked);
  EXPECT_EQ(asked, 1u);
  AddClean({{At("Buffer", 3)}, {At("Other", 90)}, {At("main", 7)}}, &blame, &asked);
  EXPECT_EQ(asked, 2u);
}

TEST(Blame, WithoutLinesCallsAreToldApartByTheirAddress) {
  ReportFrame a = At("Buffer", 0), b = At("Buffer", 0);
  a.offset = 0x10;
  b.offset = 0x20;
  EXPECT_FALSE(SamePlace(a, b));
  b.offset = 0x10;
  EXPECT_TRUE(SamePlace(a, b));
}

TEST(Library, HeadersThatAreCompiledIntoAProgramAreNotItsOwn) {
  for (const char* file :
       {"/usr/include/c++/12/bits/stl_vector.h",
        "/env/lib/python3.11/site-packages/torch/include/ATen/core/TensorBody.h",
        "/home/me/libtorch/include/ATen/ops/cross_entropy_loss.h", "/home/me/libtorch/include/torch/csrc/api/all.h",
        "/usr/local/cuda-13.0/targets/x86_64-linux/include/cccl/thrust/device_vector.h",
        "/usr/lib/gcc/x86/12/cstddef"}) {
    EXPECT_TRUE(IsSystemHeader(file)) << file;
  }
  for (const char* file :
       {"/home/me/job/include/buffer.h", "/home/me/job/src/torch/model.cc", "train.cc", "/src/cub.cu"}) {
    EXPECT_FALSE(IsSystemHeader(file)) << file;
  }
}

TEST(Library, AStaticRuntimeIsPlumbingToo) {
  EXPECT_TRUE(IsStaticRuntime("libcudart_static_1d6ab1b6f37f80ac", ""));
  EXPECT_TRUE(IsStaticRuntime("cudaMalloc", "libcudart_static_1d6ab1b6f37f80ac"));
  EXPECT_FALSE(IsStaticRuntime("cudaMallocAndFill", ""));
  EXPECT_FALSE(IsStaticRuntime("Block::Forward", "libcudart_static_1d6ab1b6f37f80ac"));
}

TEST(StackSymbolizer, LeavesOutThePlumbingAndNamesTheOwner) {
  Definitions definitions;
  const auto add = [&](uint32_t id, const char* path, uint64_t start) {
    TracedModule module;
    module.id = id;
    module.path = path;
    module.load_bias = start;
    module.ranges = {{start, start + 0x1000}};
    definitions.modules.Add(module);
  };
  add(1, "/nowhere/train", 0x10000);
  add(2, "/nowhere/libcudart.so.12", 0x20000);
  add(3, "/nowhere/libvramtrack.so", 0x30000);
  add(4, "/nowhere/libcublas.so.12", 0x40000);
  const uint64_t stack[] = {0x30010, 0x20010, 0x40010, 0x11000, 0x10010};
  definitions.stacks.Define(1, stack, 5, 0, false);
  definitions.stacks.Define(2, stack, 2, 0, false);
  // A library's function that is hooked itself.
  const uint64_t nested[] = {0x30010, 0x20010, 0x40010, 0x30020, 0x10010};
  definitions.stacks.Define(3, nested, 5, 0, false);
  definitions.Freeze();
  Symbolizer symbols;
  StackSymbolizer symbolizer(definitions, &symbols);
  const std::vector<ReportFrame> frames = symbolizer.Frames(definitions.stacks.Distinct(1));
  ASSERT_EQ(frames.size(), 3u);
  EXPECT_EQ(frames[0].module, "/nowhere/libcublas.so.12");
  // A call that ends its module returns to an address behind it.
  EXPECT_EQ(frames[1].module, "/nowhere/train");
  EXPECT_EQ(frames[2].offset, 0x10u);
  EXPECT_EQ(symbolizer.Owner(definitions.stacks.Distinct(1)), "libcublas.so.12");
  // Nothing but plumbing is better than nothing, but hooks are of no interest.
  const std::vector<ReportFrame> plumbing = symbolizer.Frames(definitions.stacks.Distinct(2));
  ASSERT_EQ(plumbing.size(), 1u);
  EXPECT_EQ(plumbing[0].module, "/nowhere/libcudart.so.12");
  const std::vector<ReportFrame> hooked = symbolizer.Frames(definitions.stacks.Distinct(3));
  ASSERT_EQ(hooked.size(), 2u);
  EXPECT_EQ(hooked[0].module, "/nowhere/libcublas.so.12");
  EXPECT_EQ(hooked[1].module, "/nowhere/train");
  EXPECT_EQ(symbolizer.Owner(definitions.stacks.Distinct(2)), "");
  EXPECT_TRUE(symbolizer.Frames(kEmptyStack).empty());
}

}  // namespace
}  // namespace vramtrack
