// SPDX-License-Identifier: Apache-2.0
#include "analyzer/attribution/glue.h"

#include <algorithm>

#include "analyzer/attribution/library.h"
#include "analyzer/attribution/python_file.h"
#include "analyzer/base/affix.h"
#include "analyzer/base/function_name.h"

namespace vramtrack {
namespace {

// Beginnings of a function's name without its return type, as base/function_name.h has it.
constexpr std::string_view kNativeGlue[] = {
    // The caching allocator, between the one who asks for a tensor and the device.
    "c10::cuda::CUDACachingAllocator::",
    "c10::CachingDeviceAllocator::",
    "c10::reportMemoryUsageToProfiler",
    "c10::StorageImpl::",
    "c10::TensorImpl::",
    "c10::make_storage_impl",
    "at::detail::empty_",
    "at::create_out",
    "at::TensorIterator",
    "at::structured_",
    // The dispatcher and the kernels that do no more than wrap others.
    "c10::Dispatcher::",
    "c10::OperatorHandle::",
    "c10::TypedOperatorHandle",
    "c10::KernelFunction",
    "c10::BoxedKernel",
    "c10::impl::",
    "c10::detail::",
    "at::_ops::",
    "at::redispatch::",
    "at::wrapper_",
    "at::functorch::",
    "at::autocast::",
    "torch::autograd::VariableType::",
    "torch::ADInplaceOrView::",
    "torch::TraceType::",
    "torch::jit::invokeOperatorFromPython",
    // Python's bindings.
    "torch::autograd::THPVariable_",
    "torch::autograd::dispatch_",
    "torch::autograd::TypeError_to_NotImplemented_",
    "torch::handle_torch_function",
    "THPVariable_",
    "THPFunction_apply",
    "pybind11::",
    "PYBIND11_",
    // TensorFlow's allocator, and what gives an operation its output.
    "tsl::BFCAllocator::",
    "tensorflow::Tensor::Tensor",
    "tensorflow::TensorBuffer",
    "tensorflow::OpKernelContext::",
    "_mlir_ciface_tf_alloc",
    // The calls by which a pool describes its blocks.
    "nvtxMem",
    // What runs TensorFlow's operations.
    "tensorflow::ExecutorState",
    "tensorflow::EagerExecutor::",
    "tensorflow::EagerOperation::",
    "Eigen::ThreadPoolTempl",
    "tsl::thread::",
    // What runs backward nodes, and threads as such.
    "torch::autograd::Engine::",
    "torch::autograd::python::PythonEngine::",
    "torch::autograd::Node::operator()",
    "torch::autograd::call_function",
    "torch::autograd::validate_outputs",
    "torch::autograd::InputMetadata::",
    "std::_Function_handler",
    "std::_Function_base",
    "std::function",
    "std::__invoke",
    "std::invoke",
    "std::thread::",
    "std::execute_native_thread_routine",
    "execute_native_thread_routine",
    "start_thread",
    "clone",
    "clone3",
    "__clone",
    "__clone3",
    "__libc_start_",
};

// Libraries whose functions without a name are glue: that of a thread's start, and what a stripped wheel does not
// export.
constexpr std::string_view kNamelessGlue[] = {"libtorch", "libc10", "libstdc++.so"};

// The other half of a node's own function.
constexpr std::string_view kNativeGlueEnd = "_apply_functional";

struct PythonGlue {
  std::string_view file;      // its end, from the beginning of a folder's or the file's name
  std::string_view function;  // the last part of its name; empty: all of the file
};

constexpr PythonGlue kPythonGlue[] = {
    {"torch/nn/modules/module.py", "_call_impl"},
    {"torch/nn/modules/module.py", "_wrapped_call_impl"},
    {"torch/nn/modules/module.py", "_slow_forward"},
    {"torch/nn/modules/module.py", "inner"},
    {"torch/utils/_contextlib.py", ""},
    {"torch/_ops.py", ""},
    {"torch/_compile.py", ""},
    {"torch/_jit_internal.py", ""},
    {"torch/overrides.py", ""},
    {"torch/_dynamo/eval_frame.py", ""},
    {"torch/_dynamo/external_utils.py", ""},
    {"torch/autograd/function.py", "apply"},
    {"torch/autograd/graph.py", "_engine_run_backward"},
    {"torch/amp/autocast_mode.py", "decorate_autocast"},
    {"torch/optim/optimizer.py", "wrapper"},
    {"torch/optim/optimizer.py", "_use_grad"},
    {"torch/optim/optimizer.py", "maybe_fallback"},
    {"torch/optim/lr_scheduler.py", "wrapper"},
    {"<frozen runpy>", ""},
    {"<frozen importlib._bootstrap>", ""},
    {"<frozen importlib._bootstrap_external>", ""},
    {"runpy.py", ""},
    {"contextlib.py", ""},
};

bool IsPathEnd(std::string_view path, std::string_view end) {
  return EndsWith(path, end) && (path.size() == end.size() || path[path.size() - end.size() - 1] == '/');
}

bool IsInterpreterModule(std::string_view path) {
  std::string_view name = ModuleName(path);
  if (StartsWith(name, "libpython")) return true;
  if (!StartsWith(name, "python")) return false;
  name.remove_prefix(6);  // "3.11", also "3.13t" and "3.11d"
  return name.find_first_not_of("0123456789.td") == std::string_view::npos;
}

}  // namespace

bool IsNameless(const ReportFrame& frame) {
  const std::string_view module = ModuleName(frame.module);
  return frame.function.empty() || (StartsWith(frame.function, module) &&
                                    StartsWith(std::string_view(frame.function).substr(module.size()), "+0x"));
}

bool IsNativeGlue(const ReportFrame& frame) {
  if (IsNameless(frame)) {
    const std::string_view module = ModuleName(frame.module);
    return std::any_of(std::begin(kNamelessGlue), std::end(kNamelessGlue),
                       [&](std::string_view library) { return StartsWith(module, library); });
  }
  const std::string name = QualifiedName(frame.function);
  if (EndsWith(name, kNativeGlueEnd)) return true;
  return std::any_of(std::begin(kNativeGlue), std::end(kNativeGlue), [&](std::string_view prefix) {
    if (!StartsWith(name, prefix)) return false;
    // A C function is meant as a whole: others of the program may begin like it.
    return name.size() == prefix.size() || prefix.back() == '_' || prefix.find("::") != std::string_view::npos;
  });
}

bool IsPythonGlue(const ReportFrame& frame) {
  const std::string_view function = UnqualifiedName(frame.function);
  return std::any_of(std::begin(kPythonGlue), std::end(kPythonGlue), [&](const PythonGlue& glue) {
    return IsPathEnd(frame.file, glue.file) && (glue.function.empty() || glue.function == function);
  });
}

bool IsModuleCall(const ReportFrame& frame) {
  return IsPathEnd(frame.file, "torch/nn/modules/module.py") && UnqualifiedName(frame.function) == "_call_impl";
}

bool IsInterpreter(const ReportFrame& frame) {
  if (IsInterpreterModule(frame.module)) return true;
  return StartsWith(frame.function, "_PyEval_") || StartsWith(frame.function, "_PyObject_") ||
         StartsWith(frame.function, "_PyFunction_") || StartsWith(frame.function, "PyObject_") ||
         StartsWith(frame.function, "PyEval_");
}

// Debug builds and profile-guided ones have parts of it under longer names.
bool IsEvaluation(const ReportFrame& frame) { return StartsWith(frame.function, "_PyEval_EvalFrameDefault"); }

std::string GraphNodeName(const ReportFrame& frame) {
  std::string name = QualifiedName(frame.function);
  constexpr std::string_view kApply = "::apply";
  constexpr std::string_view kNamespace = "torch::autograd::";
  if (!EndsWith(name, kApply) || !StartsWith(name, kNamespace)) return "";
  name.resize(name.size() - kApply.size());
  int brackets = 0;
  for (size_t i = name.size(); i > 0; --i) {
    if (name[i - 1] == '>') ++brackets;
    if (name[i - 1] == '<') --brackets;
    if (name[i - 1] == ':' && brackets == 0) return name.substr(i);
  }
  return name;
}

}  // namespace vramtrack
