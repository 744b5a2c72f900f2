// SPDX-License-Identifier: Apache-2.0
#include "analyzer/attribution/glue.h"

#include <gtest/gtest.h>

#include "analyzer/attribution/python_file.h"

namespace vramtrack {
namespace {

ReportFrame Native(const std::string& function, const std::string& module = "/env/torch/lib/libtorch_cpu.so") {
  ReportFrame frame;
  frame.function = function;
  frame.module = module;
  return frame;
}

ReportFrame Python(const std::string& function, const std::string& file) {
  ReportFrame frame;
  frame.function = function;
  frame.file = file;
  frame.language = Language::kPython;
  return frame;
}

// As the symbols of PyTorch 2.15 read.
TEST(Glue, PyTorchsDispatcherIsGlue) {
  for (const char* function : {
           "at::_ops::addmm::call(at::Tensor const&, at::Tensor const&, c10::Scalar const&)",
           "at::_ops::empty_memory_format::redispatch(c10::DispatchKeySet, c10::ArrayRef<c10::SymInt>)",
           "at::Tensor c10::Dispatcher::call<at::Tensor, at::Tensor const&>(c10::TypedOperatorHandle<at::Tensor ()> "
           "const&, at::Tensor const&) const",
           "c10::impl::wrap_kernel_functor_unboxed_<c10::impl::detail::WrapFunctionIntoFunctor_<>, int>::call(int)",
           "c10::cuda::CUDACachingAllocator::Native::DeviceCachingAllocator::malloc(unsigned long, CUstream_st*)",
           "torch::autograd::VariableType::(anonymous namespace)::addmm(c10::DispatchKeySet)",
           "torch::autograd::THPVariable_linear(_object*, _object*, _object*)",
           "pybind11::cpp_function::dispatcher(_object*, _object*, _object*)",
           "std::_Function_handler<void (int), f::{lambda()#1}>::_M_invoke(std::_Any_data const&)",
           "torch::autograd::Engine::evaluate_function(std::shared_ptr<int>&)",
           "torch::autograd::generated::AddmmBackward0_apply_functional(std::vector<at::Tensor>&&)",
           "at::TensorIteratorBase::build(at::TensorIteratorConfig&)",
           "clone",
           "at::(anonymous namespace)::create_out(c10::ArrayRef<long>)",
           "libtorch_cpu.so+0x12ab",
       }) {
    EXPECT_TRUE(IsNativeGlue(Native(function))) << function;
  }
}

TEST(Glue, WhatWasAskedForIsNone) {
  for (const char* function : {
           "at::native::addmm_out_cuda_impl(at::Tensor&)",
           "at::Tensor at::native::(anonymous namespace)::empty_like<float>(int)",
           "at::Tensor::contiguous(c10::MemoryFormat) const",
           "torch::autograd::generated::AddmmBackward0::apply(std::vector<at::Tensor>&&)",
           "clone_weights(int)",
           "start_threads()",
           "train::Step()",
       }) {
    EXPECT_FALSE(IsNativeGlue(Native(function))) << function;
  }
  // A library of the job without symbols is all that is known of it.
  EXPECT_FALSE(IsNativeGlue(Native("libmine.so+0x12ab", "/job/libmine.so")));
}

TEST(Glue, PythonsOwnAndPyTorchsPassOn) {
  const std::string torch = "/env/lib/python3.11/site-packages/torch/";
  EXPECT_TRUE(IsPythonGlue(Python("Module._call_impl", torch + "nn/modules/module.py")));
  EXPECT_FALSE(IsPythonGlue(Python("Module._apply", torch + "nn/modules/module.py")));
  EXPECT_TRUE(IsPythonGlue(Python("context_decorator.<locals>.decorate_context", torch + "utils/_contextlib.py")));
  EXPECT_TRUE(IsPythonGlue(Python("OpOverload.__call__", torch + "_ops.py")));
  EXPECT_FALSE(IsPythonGlue(Python("call", "/job/my_ops.py")));
  EXPECT_FALSE(IsPythonGlue(Python("_call_impl", "/job/nn/modules/module.py")));
}

TEST(Glue, TheInterpreterIsKnownByItsFileAndNames) {
  EXPECT_TRUE(IsInterpreter(Native("cfunction_call", "/usr/bin/python3.11")));
  EXPECT_TRUE(IsInterpreter(Native("x", "/usr/lib/libpython3.12.so.1.0")));
  EXPECT_TRUE(IsInterpreter(Native("_PyEval_Vector", "/opt/embedding")));
  EXPECT_FALSE(IsInterpreter(Native("x", "/opt/python_server")));
  EXPECT_TRUE(IsEvaluation(Native("_PyEval_EvalFrameDefault.cold", "/usr/bin/python3.11")));
}

TEST(Glue, ANodeIsNamedByItsClass) {
  EXPECT_EQ(GraphNodeName(Native("torch::autograd::generated::AddmmBackward0::apply(std::vector<at::Tensor>&&)")),
            "AddmmBackward0");
  EXPECT_EQ(GraphNodeName(Native("torch::autograd::AccumulateGrad::apply(std::vector<at::Tensor>&&)")),
            "AccumulateGrad");
  EXPECT_EQ(GraphNodeName(Native("at::native::apply(int)")), "");
}

TEST(PythonFile, LibrariesAreTheStandardOneAndPyTorch) {
  EXPECT_TRUE(IsPythonLibrary("/usr/lib/python3.11/threading.py"));
  EXPECT_TRUE(IsPythonLibrary("/env/lib/python3.11/site-packages/torch/nn/functional.py"));
  EXPECT_TRUE(IsPythonLibrary("<frozen runpy>"));
  EXPECT_TRUE(IsPythonLibrary("<eval_with_key>.12"));
  EXPECT_TRUE(IsPythonLibrary("/tmp/torchinductor_me/qx/cqxabc.py"));
  EXPECT_FALSE(IsPythonLibrary("/tmp/ipykernel_12/345.py"));
  EXPECT_FALSE(IsPythonLibrary("/env/lib/python3.11/site-packages/transformers/models/gpt2/modeling_gpt2.py"));
  EXPECT_FALSE(IsPythonLibrary("/home/me/torch/train.py"));
  EXPECT_FALSE(IsPythonLibrary("<string>"));
  EXPECT_FALSE(IsPythonLibrary("train.py"));
}

TEST(PythonFile, PathsAreShownFromWhereTheyMatter) {
  EXPECT_EQ(ShownPythonFile("/home/me/job/train.py", "/home/me/job"), "train.py");
  EXPECT_EQ(ShownPythonFile("/home/me/job2/train.py", "/home/me/job"), "/home/me/job2/train.py");
  EXPECT_EQ(ShownPythonFile("/train.py", "/"), "/train.py");
  EXPECT_EQ(ShownPythonFile("/e/lib/python3.11/site-packages/a/b.py", "/e"), "a/b.py");
  EXPECT_EQ(ShownPythonFile("/usr/lib/python3.13/threading.py", ""), "threading.py");
}

}  // namespace
}  // namespace vramtrack
