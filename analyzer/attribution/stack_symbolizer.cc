// SPDX-License-Identifier: Apache-2.0
#include "analyzer/attribution/stack_symbolizer.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "analyzer/attribution/allocating_package.h"
#include "analyzer/attribution/glue.h"
#include "analyzer/attribution/library.h"
#include "analyzer/attribution/python_file.h"

namespace vramtrack {

// Walks one stack. Native frames come first, as they are the innermost; where the interpreter's own frames are among
// them, the Python frames that it ran take their place.
class StackSymbolizer::Pieces {
 public:
  Pieces(StackSymbolizer* symbolizer, const JoinedStackRef& stack, bool raw)
      : symbolizer_(*symbolizer), stack_(stack), raw_(raw) {
    if (!raw) stack_.native = symbolizer->Trimmed(stack_.native);
  }

  // Empty at the end.
  std::vector<ReportFrame> Next() {
    std::vector<ReportFrame> piece;
    while (piece.empty() && Advance(&piece)) {
    }
    return piece;
  }

 private:
  // Goes on by one return address or Python frame, which may add nothing. False at the end.
  bool Advance(std::vector<ReportFrame>* piece) {
    if (native_ < stack_.native.count) {
      for (ReportFrame& frame : symbolizer_.NativeFrames(stack_.native.frames[native_++], stack_.native.module_epoch)) {
        AddNative(std::move(frame), piece);
      }
    } else if (python_ < stack_.python.count) {
      AddPython(stack_.python.frames[python_++], false, piece);
    } else if (stack_.node != schema::NODE_NONE && !node_told_) {
      piece->push_back(NodeFrame());
      node_told_ = true;
    } else if (forward_ < stack_.forward.count) {
      AddPython(stack_.forward.frames[forward_++], true, piece);
    } else {
      return false;
    }
    return true;
  }

  void AddNative(ReportFrame frame, std::vector<ReportFrame>* piece) {
    const bool evaluation = IsEvaluation(frame);
    by_itself_.Pass(frame);
    if (stack_.node != schema::NODE_NONE && node_.empty()) {
      node_ = GraphNodeName(frame);
      if (!node_.empty() && !raw_) return;  // the frame of the node says it
    }
    if (raw_ || !(IsInterpreter(frame) || IsNativeGlue(frame))) piece->push_back(std::move(frame));
    if (!evaluation) return;
    while (python_ < stack_.python.count) {
      const PythonFrame& called = stack_.python.frames[python_++];
      AddPython(called, false, piece);
      if (called.entry) break;
    }
  }

  void AddPython(const PythonFrame& called, bool forward, std::vector<ReportFrame>* piece) {
    ReportFrame frame = symbolizer_.FrameOf(called);
    if (by_itself_.IsWithin(frame)) frame.origin = ReportFrame::Origin::kLibrary;
    if (!raw_ && IsPythonGlue(frame)) return;
    frame.forward = forward;
    piece->push_back(std::move(frame));
  }

  ReportFrame NodeFrame() const {
    ReportFrame frame;
    frame.function = !node_.empty()                           ? node_
                     : stack_.node == schema::NODE_ACCUMULATE ? "AccumulateGrad"
                                                              : "autograd node";
    frame.language = "autograd";
    frame.origin = ReportFrame::Origin::kNode;
    return frame;
  }

  StackSymbolizer& symbolizer_;
  JoinedStackRef stack_;
  const bool raw_;
  size_t native_ = 0, python_ = 0, forward_ = 0;
  std::string node_;  // class of the innermost node on the native stack
  bool node_told_ = false;
  AllocatingPackage by_itself_;
};

StackSymbolizer::StackSymbolizer(const Definitions& definitions, Symbolizer* symbolizer, StackDetail detail,
                                 std::vector<std::string> libraries)
    : definitions_(definitions), symbolizer_(symbolizer), detail_(detail), libraries_(std::move(libraries)) {
  for (const TracedModule& module : definitions.modules.modules()) {
    constexpr std::string_view kEnd = "/lib/libtorch_python.so";
    const std::string_view path = module.path;
    if (path.size() <= kEnd.size() || path.substr(path.size() - kEnd.size()) != kEnd) continue;
    pytorch_ = std::string(path.substr(0, path.size() - kEnd.size() + 1));
  }
}

const std::string* StackSymbolizer::LibraryOf(uint32_t distinct_stack) const {
  const size_t first = definitions_.stacks.distinct_count();
  return distinct_stack < first || distinct_stack - first >= libraries_.size() ? nullptr
                                                                               : &libraries_[distinct_stack - first];
}

// A return address is behind the call, which may be the last instruction of its module.
int StackSymbolizer::ModuleAt(uint64_t return_address, uint32_t module_epoch) const {
  return definitions_.modules.Find(return_address - 1, module_epoch);
}

StackRef StackSymbolizer::Trimmed(const StackRef& whole) {
  StackRef stack = whole;
  while (stack.count > 0) {
    const int module = ModuleAt(stack.frames[0], stack.module_epoch);
    if (module < 0 || !IsAllocationPlumbing(definitions_.modules.modules()[static_cast<size_t>(module)].path)) break;
    ++stack.frames;
    --stack.count;
  }
  // A runtime that is part of the program is told by its functions' names.
  for (std::string inner; stack.count > 0;) {
    std::string function = NativeFrames(stack.frames[0], stack.module_epoch).back().function;
    if (!IsStaticRuntime(function, inner)) break;
    inner = std::move(function);
    ++stack.frames;
    --stack.count;
  }
  return stack.count > 0 ? stack : whole;
}

std::vector<ReportFrame> StackSymbolizer::NativeFrames(uint64_t return_address, uint32_t module_epoch) {
  std::vector<ReportFrame> frames;
  const int index = ModuleAt(return_address, module_epoch);
  if (index < 0) {
    ReportFrame frame;
    frame.function = absl::StrCat("0x", absl::Hex(return_address));
    frame.offset = return_address;
    frame.language = "unknown";
    frames.push_back(std::move(frame));
    return frames;
  }
  const TracedModule& module = definitions_.modules.modules()[static_cast<size_t>(index)];
  const ModuleRef ref = {module.path, module.build_id};
  for (const vramtrack::Frame& found : symbolizer_->Symbolize(ref, return_address - module.load_bias, true)) {
    ReportFrame frame;
    frame.function = found.function;
    frame.file = found.file;
    frame.line = found.line;
    frame.module = found.module;
    frame.language = found.language;
    frame.offset = found.offset;
    frame.inlined = found.inlined;
    frames.push_back(std::move(frame));
  }
  return frames;
}

ReportFrame StackSymbolizer::FrameOf(const PythonFrame& called) const {
  const TracedCode& code = definitions_.codes.Get(called.code);
  ReportFrame frame;
  frame.function = code.name;
  frame.file = code.file;
  frame.line = called.line;
  frame.language = "python";
  const std::string_view shown = ShownPythonFile(code.file, definitions_.process.working_directory);
  if (shown.size() < code.file.size()) frame.shown_file = std::string(shown);
  const bool in_pytorch = !pytorch_.empty() && code.file.compare(0, pytorch_.size(), pytorch_) == 0;
  frame.installed = !PythonPackage(code.file).empty();
  if (in_pytorch || IsPythonLibrary(code.file)) frame.origin = ReportFrame::Origin::kLibrary;
  return frame;
}

std::function<std::vector<ReportFrame>()> StackSymbolizer::Reader(uint32_t distinct_stack) {
  if (LibraryOf(distinct_stack) != nullptr || IsPinnedPool(distinct_stack)) {
    return [frames = Frames(distinct_stack)]() mutable { return std::exchange(frames, {}); };
  }
  const JoinedStackRef stack = definitions_.stacks.Get(distinct_stack);
  auto pieces = std::make_shared<Pieces>(this, stack, detail_ == StackDetail::kRaw);
  return [pieces]() { return pieces->Next(); };
}

std::vector<ReportFrame> StackSymbolizer::Frames(uint32_t distinct_stack) {
  std::vector<ReportFrame> frames;
  if (IsPinnedPool(distinct_stack)) {
    ReportFrame frame;
    frame.function = kPinnedPool;
    frame.module = "libtorch_cuda.so";
    frame.language = "allocator";
    frame.origin = ReportFrame::Origin::kLibrary;
    frames.push_back(std::move(frame));
    return frames;
  }
  if (const std::string* library = LibraryOf(distinct_stack)) {
    ReportFrame frame;
    frame.function = frame.module = *library;
    frame.language = "cupti";
    frame.origin = ReportFrame::Origin::kCupti;
    frames.push_back(std::move(frame));
    return frames;
  }
  const JoinedStackRef stack = definitions_.stacks.Get(distinct_stack);
  for (const bool raw : {detail_ == StackDetail::kRaw, true}) {
    Pieces pieces(this, stack, raw);
    for (std::vector<ReportFrame> piece = pieces.Next(); !piece.empty(); piece = pieces.Next()) {
      std::move(piece.begin(), piece.end(), std::back_inserter(frames));
    }
    if (!frames.empty()) break;
  }
  return frames;
}

std::string StackSymbolizer::Owner(uint32_t distinct_stack) const {
  if (const std::string* library = LibraryOf(distinct_stack)) return *library;
  if (IsPinnedPool(distinct_stack)) return "libtorch_cuda.so";
  const StackRef stack = definitions_.stacks.Get(distinct_stack).native;
  std::string owner;
  for (size_t i = 0; i < stack.count; ++i) {
    const int module = ModuleAt(stack.frames[i], stack.module_epoch);
    if (module < 0) continue;
    const std::string& path = definitions_.modules.modules()[static_cast<size_t>(module)].path;
    if (IsAllocationPlumbing(path)) continue;
    if (owner.empty()) owner = std::string(ModuleName(path));
    if (!IsFrameworkAllocator(path)) return std::string(ModuleName(path));
  }
  return owner;
}

}  // namespace vramtrack
