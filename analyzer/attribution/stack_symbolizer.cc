// SPDX-License-Identifier: Apache-2.0
#include "analyzer/attribution/stack_symbolizer.h"

#include <functional>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "analyzer/attribution/glue.h"
#include "analyzer/attribution/library.h"
#include "analyzer/attribution/python_file.h"
#include "proto/hash.h"

namespace vramtrack {

// What is known of a frame once, for all stacks that it is in.
struct StackSymbolizer::KnownFrame {
  ReportFrame frame;
  uint64_t place = 0;       // equal for frames that are the same place to a reader
  bool left_out = false;    // of useful stacks
  bool evaluation = false;  // runs Python frames
  std::string node;         // the graph's node whose backward it is
};

namespace {

// Functions and files by the hashes of their texts.
uint64_t PlaceOf(const ReportFrame& frame) {
  const std::hash<std::string> text;
  const uint64_t hash = Mix(Mix(0, text(frame.function)), text(frame.file));
  return frame.line != 0 ? Mix(hash, frame.line) : Mix(Mix(hash, text(frame.module)), frame.offset);
}

}  // namespace

// Walks one stack. Native frames come first, as they are the innermost; where the interpreter's own frames are among
// them, the Python frames that it ran take their place.
class StackSymbolizer::Pieces {
 public:
  // A frame as this stack has it.
  struct Shown {
    const KnownFrame* known = nullptr;
    bool within_library = false;  // of a package that gives out memory for others
    bool forward = false;
  };

  Pieces(StackSymbolizer* symbolizer, const JoinedStackRef& stack, bool raw)
      : symbolizer_(*symbolizer), stack_(stack), raw_(raw) {
    if (!raw) stack_.native = symbolizer->Trimmed(stack_.native);
  }

  // Empty at the end; valid until the next call.
  const std::vector<Shown>& Next() {
    piece_.clear();
    while (piece_.empty() && Advance()) {
    }
    return piece_;
  }

 private:
  // Goes on by one return address or Python frame, which may add nothing. False at the end.
  bool Advance() {
    if (native_ < stack_.native.count) {
      for (const KnownFrame& frame :
           symbolizer_.NativeFrames(stack_.native.frames[native_++], stack_.native.module_epoch)) {
        AddNative(frame);
      }
    } else if (python_ < stack_.python.count) {
      AddPython(stack_.python.frames[python_++], false);
    } else if (stack_.node != schema::NODE_NONE && !node_told_) {
      node_frame_ = NodeFrame();
      piece_.push_back({&node_frame_});
      node_told_ = true;
    } else if (forward_ < stack_.forward.count) {
      AddPython(stack_.forward.frames[forward_++], true);
    } else {
      return false;
    }
    return true;
  }

  void AddNative(const KnownFrame& known) {
    by_itself_.Pass(known.frame);
    if (stack_.node != schema::NODE_NONE && node_.empty()) {
      node_ = known.node;
      if (!node_.empty() && !raw_) return;  // the frame of the node says it
    }
    if (raw_ || !known.left_out) piece_.push_back({&known});
    if (!known.evaluation) return;
    while (python_ < stack_.python.count) {
      const PythonFrame& called = stack_.python.frames[python_++];
      AddPython(called, false);
      if (called.entry) break;
    }
  }

  void AddPython(const PythonFrame& called, bool forward) {
    const KnownFrame& known = symbolizer_.PythonFrames(called)[0];
    const bool within = by_itself_.IsWithin(known.frame);
    if (!raw_ && known.left_out) return;
    piece_.push_back({&known, within, forward});
  }

  KnownFrame NodeFrame() const {
    KnownFrame known;
    known.frame.function = !node_.empty()                           ? node_
                           : stack_.node == schema::NODE_ACCUMULATE ? "AccumulateGrad"
                                                                    : "autograd node";
    known.frame.language = Language::kAutograd;
    known.frame.origin = ReportFrame::Origin::kNode;
    known.place = PlaceOf(known.frame);
    return known;
  }

  StackSymbolizer& symbolizer_;
  JoinedStackRef stack_;
  const bool raw_;
  std::vector<Shown> piece_;
  size_t native_ = 0, python_ = 0, forward_ = 0;
  std::string node_;  // class of the innermost node on the native stack
  KnownFrame node_frame_;
  bool node_told_ = false;
  AllocatingPackage by_itself_;
};

namespace {

template <typename Shown>
ReportFrame FrameAs(const Shown& shown) {
  ReportFrame frame = shown.known->frame;
  if (shown.within_library) frame.origin = ReportFrame::Origin::kLibrary;
  frame.forward = shown.forward;
  return frame;
}

// A script that an installer wrote, `bin/torchrun`, and the line that starts a process of a pool are nobody's own code.
void MarkStarters(std::vector<ReportFrame>* frames) {
  for (size_t i = 1; i < frames->size(); ++i) {
    ReportFrame& frame = (*frames)[i];
    const ReportFrame& called = (*frames)[i - 1];
    if (IsPython(frame) && IsPython(called) && !frame.installed && IsStarter(frame, called)) frame.installed = true;
  }
}

}  // namespace

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

const std::string* StackSymbolizer::LibraryOf(StackIndex index) const {
  const size_t first = definitions_.stacks.distinct_count();
  const size_t at = index.value();
  return at < first || at - first >= libraries_.size() ? nullptr : &libraries_[at - first];
}

StackSymbolizer::~StackSymbolizer() = default;

// A return address follows the call, which may be the last instruction of its module.
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
  // A runtime that is part of the program is recognized by its functions' names.
  for (std::string inner; stack.count > 0;) {
    const std::string& function = NativeFrames(stack.frames[0], stack.module_epoch).back().frame.function;
    if (!IsStaticRuntime(function, inner)) break;
    inner = function;
    ++stack.frames;
    --stack.count;
  }
  return stack.count > 0 ? stack : whole;
}

const StackSymbolizer::KnownFrames& StackSymbolizer::NativeFrames(uint64_t return_address, uint32_t module_epoch) {
  const int index = ModuleAt(return_address, module_epoch);
  const TracedModule* module = index < 0 ? nullptr : &definitions_.modules.modules()[static_cast<size_t>(index)];
  const uint64_t offset = module == nullptr ? return_address : return_address - module->load_bias;
  std::unique_ptr<KnownFrames>& frames = native_[{index, offset}];
  if (frames != nullptr) return *frames;
  frames = std::make_unique<KnownFrames>();
  if (module == nullptr) {
    ReportFrame frame;
    frame.function = absl::StrCat("0x", absl::Hex(return_address));
    frame.offset = return_address;
    frame.language = Language::kUnknown;
    frames->emplace_back().frame = std::move(frame);
  } else {
    const ModuleRef ref = {module->path, module->build_id, module->text_hash, module->file_bytes, module->modified_ns};
    for (const vramtrack::Frame& found : symbolizer_->Symbolize(ref, offset, true)) {
      ReportFrame frame;
      frame.function = found.function;
      frame.file = found.file;
      frame.line = found.line;
      frame.module = found.module;
      frame.language = found.language;
      frame.offset = found.offset;
      frame.inlined = found.inlined;
      frame.installed = IsInstalledLibrary(module->path) || IsSystemHeader(found.file);
      frames->emplace_back().frame = std::move(frame);
    }
  }
  const bool hook = module != nullptr && IsTracer(module->path);
  for (KnownFrame& known : *frames) {
    known.place = PlaceOf(known.frame);
    known.left_out = IsInterpreter(known.frame) || IsNativeGlue(known.frame) || hook;
    known.evaluation = IsEvaluation(known.frame);
    known.node = GraphNodeName(known.frame);
  }
  return *frames;
}

const StackSymbolizer::KnownFrames& StackSymbolizer::PythonFrames(const PythonFrame& called) {
  std::unique_ptr<KnownFrames>& frames = python_[{called.code, called.line}];
  if (frames != nullptr) return *frames;
  frames = std::make_unique<KnownFrames>(1);
  KnownFrame& known = frames->front();
  known.frame = FrameOf(called);
  known.place = PlaceOf(known.frame);
  known.left_out = IsPythonGlue(known.frame);
  return *frames;
}

ReportFrame StackSymbolizer::FrameOf(const PythonFrame& called) const {
  const TracedCode& code = definitions_.codes.Get(called.code);
  ReportFrame frame;
  frame.function = code.name;
  frame.file = code.file;
  frame.line = called.line;
  frame.language = Language::kPython;
  const std::string_view shown = ShownPythonFile(code.file, definitions_.process.working_directory);
  if (shown.size() < code.file.size()) frame.shown_file = std::string(shown);
  const bool in_pytorch = !pytorch_.empty() && code.file.compare(0, pytorch_.size(), pytorch_) == 0;
  frame.installed = IsInstalledPython(code.file);
  if (in_pytorch || IsPythonLibrary(code.file)) frame.origin = ReportFrame::Origin::kLibrary;
  return frame;
}

std::function<std::vector<ReportFrame>()> StackSymbolizer::Reader(StackIndex index) {
  if (OnlyFrame(index)) {
    return [frames = Frames(index)]() mutable { return std::exchange(frames, {}); };
  }
  const JoinedStackRef stack = definitions_.stacks.Get(index);
  auto pieces = std::make_shared<Pieces>(this, stack, detail_ == StackDetail::kRaw);
  return [pieces]() {
    std::vector<ReportFrame> frames;
    for (const Pieces::Shown& shown : pieces->Next()) frames.push_back(FrameAs(shown));
    return frames;
  };
}

std::optional<ReportFrame> StackSymbolizer::OnlyFrame(StackIndex index) const {
  ReportFrame frame;
  if (IsPinnedPool(index)) {
    frame.function = kPinnedPool;
    frame.module = "libtorch_cuda.so";
    frame.language = Language::kAllocator;
    frame.origin = ReportFrame::Origin::kLibrary;
    return frame;
  }
  if (const std::string* library = LibraryOf(index)) {
    frame.function = frame.module = *library;
    frame.language = Language::kCupti;
    frame.origin = ReportFrame::Origin::kCupti;
    return frame;
  }
  return std::nullopt;
}

// Calls `use` with the frames of a stack that are to be shown; with all of them if none would be.
template <typename Use>
void StackSymbolizer::ForEachShown(const JoinedStackRef& stack, Use use) {
  bool any = false;
  for (const bool raw : {detail_ == StackDetail::kRaw, true}) {
    Pieces pieces(this, stack, raw);
    while (true) {
      const std::vector<Pieces::Shown>& piece = pieces.Next();
      if (piece.empty()) break;
      any = true;
      for (const Pieces::Shown& shown : piece) use(shown);
    }
    if (any) return;
  }
}

std::vector<ReportFrame> StackSymbolizer::Frames(StackIndex index) {
  if (std::optional<ReportFrame> only = OnlyFrame(index)) return {*std::move(only)};
  std::vector<ReportFrame> frames;
  const JoinedStackRef stack = definitions_.stacks.Get(index);
  ForEachShown(stack, [&frames](const auto& shown) { frames.push_back(FrameAs(shown)); });
  if (stack.truncated()) {
    ReportFrame& rest = frames.emplace_back();
    rest.function = "[truncated]";
    rest.origin = ReportFrame::Origin::kTruncated;
  }
  MarkStarters(&frames);
  return frames;
}

uint64_t StackSymbolizer::PlacesHash(StackIndex index) {
  if (const std::string* library = LibraryOf(index)) return Mix(1, std::hash<std::string>()(*library));
  uint64_t hash = 0;
  const JoinedStackRef stack = definitions_.stacks.Get(index);
  ForEachShown(stack, [&hash](const auto& shown) { hash = Mix(hash, shown.known->place); });
  return Mix(hash, stack.truncated());
}

std::string StackSymbolizer::Owner(StackIndex index) const {
  if (const std::string* library = LibraryOf(index)) return *library;
  if (IsPinnedPool(index)) return "libtorch_cuda.so";
  const StackRef stack = definitions_.stacks.Get(index).native;
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
