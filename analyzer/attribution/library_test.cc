// SPDX-License-Identifier: Apache-2.0
#include "analyzer/attribution/library.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace vramtrack {
namespace {

const std::string kPackages = "/env/lib/python3.11/site-packages/";

ReportFrame Native(const std::string& module) {
  ReportFrame frame;
  frame.language = Language::kCpp;
  frame.module = module;
  return frame;
}

ReportFrame Python(const std::string& file, bool library = false) {
  ReportFrame frame;
  frame.language = Language::kPython;
  frame.file = file;
  if (library) frame.origin = ReportFrame::Origin::kLibrary;
  return frame;
}

// Which of the Python frames are within the package that allocates, as "x" or ".".
std::string Within(const std::vector<ReportFrame>& frames) {
  AllocatingPackage package;
  std::string within;
  for (const ReportFrame& frame : frames) {
    if (frame.language == Language::kPython) {
      within += package.IsWithin(frame) ? 'x' : '.';
    } else {
      package.Pass(frame);
    }
  }
  return within;
}

TEST(AllocatingPackage, IsWhatCallsCudaByItself) {
  EXPECT_EQ(
      Within({Native(kPackages + "cuda/bindings/cydriver.so"), Native("/usr/bin/python3.11"),
              Python(kPackages + "numba/cuda/driver.py"), Python("/usr/lib/python3.11/contextlib.py", true),
              Python(kPackages + "numba/cuda/api.py"), Python("/job/train.py"), Python(kPackages + "numba/core.py")}),
      "x.x..");
  EXPECT_EQ(Within({Native("/usr/lib/libffi.so.8"), Python("/usr/lib/python3.11/ctypes/__init__.py", true),
                    Python(kPackages + "arrays.py"), Python(kPackages + "model/layers.py"), Python("/job/train.py")}),
            ".x..");
}

TEST(AllocatingPackage, IsNotTheJobsOwnCode) {
  EXPECT_EQ(Within({Native("/job/extension.so"), Python("/job/layers.py"), Python(kPackages + "trainer/loop.py")}),
            "..");
}

TEST(AllocatingPackage, IsNotWhatAsksPyTorch) {
  for (const char* library : {"/env/torch/lib/libc10_cuda.so", "/env/torch/lib/libtorch_cpu.so"}) {
    EXPECT_EQ(Within({Native(library), Native(kPackages + "model/kernels.so"), Python(kPackages + "model/layers.py"),
                      Python("/job/train.py")}),
              "..");
  }
}

TEST(AllocatingPackage, IsNotKnownWithoutNativeFrames) {
  EXPECT_EQ(Within({Python(kPackages + "model/layers.py"), Python("/job/train.py")}), "..");
}

}  // namespace
}  // namespace vramtrack
