// SPDX-License-Identifier: Apache-2.0
#include "analyzer/profile/canonical_frame.h"

#include <gtest/gtest.h>

#include "analyzer/diff/site_keys.h"

namespace vramtrack {
namespace {

TEST(CanonicalFunction, LeavesOutWhatBuildsDisagreeOn) {
  EXPECT_EQ(CanonicalFunction("void at::(anonymous namespace)::fill<float>(at::Tensor&) [clone .cold]"),
            "at::fill<...>");
  EXPECT_EQ(CanonicalFunction("step.constprop.0.isra.1"), "step");
  EXPECT_EQ(CanonicalFunction("f(int)::{lambda(int)#2}::operator()(int) const"), "f::{lambda}::operator()");
  EXPECT_EQ(CanonicalFunction("f(int)::$_0::operator()(int) const"), "f::{lambda}::operator()");
  EXPECT_EQ(CanonicalFunction("std::vector<A<B>, C>::push_back(A<B> const&)"), "std::vector<...>::push_back");
  EXPECT_EQ(CanonicalFunction("name[abi:cxx11](int)"), "name");
  EXPECT_EQ(CanonicalFunction("operator<(A<int> const&, B)"), "operator<");
  EXPECT_EQ(CanonicalFunction("A<(Kind)1>::operator->() const"), "A<...>::operator->");
  EXPECT_EQ(CanonicalFunction("main"), "main");
  // The same function with other arguments of its template, and with its own parameters changed.
  EXPECT_EQ(CanonicalFunction("g<double>(double*)"), CanonicalFunction("g<std::vector<float> >(int)"));
}

TEST(CanonicalModule, HasNoHashAndNoVersion) {
  EXPECT_EQ(CanonicalModule("/opt/lib/libcudart-d0da41ae.so.12"), "libcudart.so");
  EXPECT_EQ(CanonicalModule("/x/_C.cpython-311-x86_64-linux-gnu.so"), "_C.so");
  EXPECT_EQ(CanonicalModule("/x/libfoo.so.1.2.3 (deleted)"), "libfoo.so");
  EXPECT_EQ(CanonicalModule("/usr/lib/libpython3.11.so.1.0"), "libpython.so");
  EXPECT_EQ(CanonicalModule("/x/libc10.so"), "libc10.so");
  EXPECT_EQ(CanonicalModule("/x/libc10_cuda.so"), "libc10_cuda.so");
  EXPECT_EQ(CanonicalModule("/x/md5"), "md5");
  EXPECT_EQ(CanonicalModule(""), "");
}

TEST(CanonicalPythonFile, BeginsAtThePackageOrTheProgram) {
  CodeRoots roots;
  roots.working_directory = "/home/ann/run7";
  roots.script_directory = "/home/ann/code/v2";
  EXPECT_EQ(CanonicalPythonFile("/usr/lib/python3/dist-packages/torch/nn/functional.py", roots),
            "torch/nn/functional.py");
  EXPECT_EQ(CanonicalPythonFile("/venv/lib/python3.12/site-packages/timm/layers.py", roots), "timm/layers.py");
  EXPECT_EQ(CanonicalPythonFile("/usr/lib/python3.12/asyncio/events.py", roots), "asyncio/events.py");
  EXPECT_EQ(CanonicalPythonFile("/home/ann/code/v2/model/attention.py", roots), "model/attention.py");
  EXPECT_EQ(CanonicalPythonFile("/home/ann/run7/train.py", roots), "train.py");
}

TEST(Renames, ReplaceWholePartsOfNames) {
  const RenameMap map = {{"Mlp", "FeedForward"}, {"old/path.py", "new.py"}};
  CanonicalFrame frame;
  frame.place = "model/old/path.py";
  frame.name = "model::Mlp::Forward";
  EXPECT_EQ(WholeName(Renamed(frame, map)), "model/new.py: model::FeedForward::Forward");
  frame.name = "MlpBlock::MakeMlp";
  frame.place = "a.py";
  EXPECT_EQ(WholeName(Renamed(frame, map)), "a.py: MlpBlock::MakeMlp");
}

}  // namespace
}  // namespace vramtrack
