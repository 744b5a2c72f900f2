// SPDX-License-Identifier: Apache-2.0
//
// Tests stacks with native and Python frames. The native frames are in this program, whose functions have the names of
// functions of PyTorch and the interpreter.
#include <gtest/gtest.h>
#include <link.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "analyzer/attribution/blame.h"
#include "analyzer/attribution/stack_symbolizer.h"

namespace at {
namespace native {
__attribute__((noinline)) int add_out(int x) { return x + 11; }
}  // namespace native
namespace _ops {
struct add_Tensor {
  static int call(int x);
};
__attribute__((noinline)) int add_Tensor::call(int x) { return x * 13; }
}  // namespace _ops
}  // namespace at
namespace torch {
namespace autograd {
namespace generated {
struct AddmmBackward0 {
  static int apply(int x);
};
__attribute__((noinline)) int AddmmBackward0::apply(int x) { return x ^ 17; }
}  // namespace generated
struct Engine {
  static int evaluate_function(int x);
};
__attribute__((noinline)) int Engine::evaluate_function(int x) { return x - 19; }
}  // namespace autograd
}  // namespace torch
extern "C" {
__attribute__((noinline)) int _PyEval_EvalFrameDefault(int x) { return x + 23; }
__attribute__((noinline)) int PyObject_Call(int x) { return x * 29; }
__attribute__((noinline)) int my_extension_call(int x) { return x ^ 31; }
}

namespace vramtrack {
namespace {

uint64_t In(int (*function)(int)) { return reinterpret_cast<uint64_t>(function) + 1; }

int FindOwnCode(dl_phdr_info* info, size_t, void* to) {
  auto* module = static_cast<TracedModule*>(to);
  module->load_bias = info->dlpi_addr;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto& segment = info->dlpi_phdr[i];
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) == 0) continue;
    const uint64_t start = info->dlpi_addr + segment.p_vaddr;
    module->ranges.emplace_back(start, start + segment.p_memsz);
  }
  return 1;  // the program itself comes first
}

class JoinedStackTest : public testing::Test {
 protected:
  JoinedStackTest() {
    TracedModule module;
    module.id = 1;
    dl_iterate_phdr(FindOwnCode, &module);
    char path[4096];
    const ssize_t length = readlink("/proc/self/exe", path, sizeof path);
    module.path.assign(path, length > 0 ? static_cast<size_t>(length) : 0);
    definitions_.modules.Add(module);
    definitions_.process.working_directory = "/home/me/job";
    Code(kMain, "<module>", "/home/me/job/train.py", 10);
    Code(kStep, "Trainer.step", "/home/me/job/train.py", 42);
    Code(kLinear, "Linear.forward", "/env/lib/python3.11/site-packages/torch/nn/modules/linear.py", 114);
    Code(kCallImpl, "Module._call_impl", "/env/lib/python3.11/site-packages/torch/nn/modules/module.py", 1500);
    Code(kHook, "hook", "/home/me/job/hooks.py", 7);
  }

  enum : uint32_t { kMain = 1, kStep, kLinear, kCallImpl, kHook };

  void Code(uint32_t id, const char* name, const char* file, uint32_t line) {
    TracedCode code;
    code.name = name;
    code.file = file;
    code.first_line = line;
    definitions_.codes.Define(id, code);
  }
  void Native(const std::vector<uint64_t>& frames) {
    definitions_.stacks.Define(1, frames.data(), frames.size(), 0, false);
  }
  void Python(uint32_t id, const std::vector<uint32_t>& codes, const std::vector<uint32_t>& entries = {}) {
    std::vector<uint32_t> instructions(codes.size());
    for (size_t i = 0; i < entries.size(); ++i) instructions[i] = entries[i];
    definitions_.stacks.DefinePython(id, codes, instructions, false);
  }
  std::vector<ReportFrame> Join(uint32_t python, uint32_t forward = 0, schema::GraphNode node = schema::NODE_NONE,
                                StackDetail detail = StackDetail::kUseful) {
    definitions_.stacks.DefineJoined(9, 1, python, forward, node);
    definitions_.Freeze();
    StackSymbolizer symbolizer(definitions_, &symbols_, detail);
    return symbolizer.Frames(definitions_.stacks.Distinct(9));
  }
  // Short: "add_out | Trainer.step", forward ones in brackets.
  static std::string Functions(const std::vector<ReportFrame>& frames) {
    std::string text;
    for (const ReportFrame& frame : frames) {
      std::string name = frame.function.substr(0, frame.function.find('('));
      if (frame.language != Language::kPython) name = name.substr(name.rfind(':') + 1);
      text += (text.empty() ? "" : " | ") + (frame.forward ? "[" + name + "]" : name);
    }
    return text;
  }

  Definitions definitions_;
  Symbolizer symbols_;
};

TEST_F(JoinedStackTest, PythonFramesFollowTheNativeOnes) {
  Native({In(at::native::add_out), In(at::_ops::add_Tensor::call), In(PyObject_Call)});
  Python(2, {kLinear, kCallImpl, kStep, kMain});
  const std::vector<ReportFrame> frames = Join(2);
  EXPECT_EQ(Functions(frames), "add_out | Linear.forward | Trainer.step | <module>");
  EXPECT_EQ(frames[2].file, "/home/me/job/train.py");
  EXPECT_EQ(frames[2].shown_file, "train.py");
  EXPECT_EQ(frames[2].line, 42u);
  EXPECT_EQ(frames[2].language, Language::kPython);
  EXPECT_EQ(frames[1].shown_file, "torch/nn/modules/linear.py");
  EXPECT_EQ(frames[1].origin, ReportFrame::Origin::kLibrary);
  EXPECT_EQ(NamingFrame(frames, 0), 2u);
}

TEST_F(JoinedStackTest, PyTorchIsALibraryWhereverItIs) {
  TracedModule module;
  module.id = 2;
  module.path = "/src/pytorch/torch/lib/libtorch_python.so";
  definitions_.modules.Add(module);
  constexpr uint32_t kFromSource = 20;
  Code(kFromSource, "linear", "/src/pytorch/torch/nn/functional.py", 3);
  Native({In(at::native::add_out)});
  Python(2, {kFromSource, kStep, kMain});
  EXPECT_EQ(NamingFrame(Join(2), 0), 2u);
}

TEST_F(JoinedStackTest, RawStacksHaveEveryFrame) {
  Native({In(at::native::add_out), In(at::_ops::add_Tensor::call), In(PyObject_Call)});
  Python(2, {kLinear, kCallImpl, kStep, kMain});
  EXPECT_EQ(Functions(Join(2, 0, schema::NODE_NONE, StackDetail::kRaw)),
            "add_out | call | PyObject_Call | Linear.forward | Module._call_impl | Trainer.step | <module>");
}

TEST_F(JoinedStackTest, PythonFramesTakeThePlaceOfTheInterpreterThatRanThem) {
  Native({In(at::native::add_out), In(_PyEval_EvalFrameDefault), In(PyObject_Call), In(my_extension_call),
          In(_PyEval_EvalFrameDefault), In(PyObject_Call)});
  // Odd: native code began the interpreter for that frame.
  Python(2, {kHook, kLinear, kStep, kMain}, {0, 1, 0, 1});
  EXPECT_EQ(Functions(Join(2)), "add_out | hook | Linear.forward | my_extension_call | Trainer.step | <module>");
}

TEST_F(JoinedStackTest, ABackwardStackGoesOnWithTheForwardCall) {
  Native({In(at::native::add_out), In(at::_ops::add_Tensor::call),
          In(torch::autograd::generated::AddmmBackward0::apply), In(torch::autograd::Engine::evaluate_function)});
  Python(2, {kLinear, kStep, kMain});
  const std::vector<ReportFrame> frames = Join(0, 2, schema::NODE_FUNCTION);
  EXPECT_EQ(Functions(frames), "add_out | AddmmBackward0 | [Linear.forward] | [Trainer.step] | [<module>]");
  EXPECT_EQ(frames[1].language, Language::kAutograd);
  EXPECT_EQ(frames[1].origin, ReportFrame::Origin::kNode);
  EXPECT_EQ(NamingFrame(frames, 0), 3u);
}

TEST_F(JoinedStackTest, AGradientHasNoForwardCall) {
  Native({In(at::native::add_out), In(torch::autograd::Engine::evaluate_function)});
  EXPECT_EQ(Functions(Join(0, 0, schema::NODE_ACCUMULATE)), "add_out | AccumulateGrad");
}

TEST_F(JoinedStackTest, AStackOfNothingButGlueIsShownWhole) {
  Native({In(at::_ops::add_Tensor::call), In(torch::autograd::Engine::evaluate_function)});
  EXPECT_EQ(Functions(Join(0)), "call | evaluate_function");
}

TEST_F(JoinedStackTest, WithoutNativeFramesPythonIsEnough) {
  Native({});
  Python(2, {kStep, kMain});
  EXPECT_EQ(Functions(Join(2)), "Trainer.step | <module>");
}

TEST_F(JoinedStackTest, TheLineToBlameIsTheJobsOwn) {
  Native({In(at::native::add_out)});
  Python(2, {kLinear, kHook, kStep, kMain});
  const std::vector<ReportFrame> leak = Join(2);
  BlameFinder blame;
  blame.AddLeak(leak);
  EXPECT_EQ(leak[blame.Blame(leak)].function, "hook");
  // A clean site goes through hook as well.
  size_t next = 0;
  const std::vector<ReportFrame> clean(leak.begin(), leak.begin() + 3);
  blame.AddClean(
      [&] { return next < clean.size() ? std::vector<ReportFrame>{clean[next++]} : std::vector<ReportFrame>{}; });
  EXPECT_EQ(leak[blame.Blame(leak)].function, "hook") << "that it is used without a leak says nothing against it";
}

}  // namespace
}  // namespace vramtrack
