// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_ATTRIBUTION_STACK_SYMBOLIZER_H_
#define ANALYZER_ATTRIBUTION_STACK_SYMBOLIZER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "analyzer/base/indices.h"
#include "analyzer/ingest/definitions.h"
#include "analyzer/model/report.h"
#include "analyzer/symbols/symbolizer.h"

namespace vramtrack {

enum class StackDetail {
  kUseful,  // without CUDA's and vramtrack's frames at the inner end, the interpreter's own, and glue (glue.h)
  kRaw,
};

// Turns a trace's stacks into frames that a person can read, native and Python ones in call order. Thread-compatible;
// `definitions` and `symbolizer` must outlive it.
class StackSymbolizer {
 public:
  // `libraries`: stacks beyond those of the trace, which are nothing but the name of a library, see UnseenMemory.
  StackSymbolizer(const Definitions& definitions, Symbolizer* symbolizer, StackDetail detail = StackDetail::kUseful,
                  std::vector<std::string> libraries = {});
  ~StackSymbolizer();

  // The one frame of the stack that stands for PyTorch's pinned-memory pool.
  static constexpr char kPinnedPool[] = "PyTorch's pinned-memory pool";
  bool IsPinnedPool(StackIndex stack) const {
    return stack != kEmptyStack && stack == definitions_.torch_pinned_pool();
  }

  // Gives a stack's frames piece by piece, innermost first, and nothing at its end: the functions at one more return
  // address, or one of Python's.
  std::function<std::vector<ReportFrame>()> Reader(StackIndex stack);

  // All of a stack; empty for the empty stack. A stack of nothing but glue is given whole.
  std::vector<ReportFrame> Frames(StackIndex stack);

  // Equal for stacks whose Frames() are the same places: the same functions at the same lines, or, where there is no
  // line, at the same offsets. Much faster than these; different stacks are told apart but for one chance in 2^64.
  uint64_t PlacesHash(StackIndex stack);

  // The name of the first module on the stack that is no plumbing and no framework's allocator, if there is one other;
  // empty if there is none at all.
  std::string Owner(StackIndex stack) const;

 private:
  class Pieces;
  struct KnownFrame;
  using KnownFrames = std::vector<KnownFrame>;  // the functions at one return address, or one Python frame

  const std::string* LibraryOf(StackIndex stack) const;  // null: it is a stack of the trace
  int ModuleAt(uint64_t return_address, uint32_t module_epoch) const;
  StackRef Trimmed(const StackRef& whole);
  const KnownFrames& NativeFrames(uint64_t return_address, uint32_t module_epoch);
  const KnownFrames& PythonFrames(const PythonFrame& frame);
  ReportFrame FrameOf(const PythonFrame& frame) const;

  const Definitions& definitions_;
  Symbolizer* symbolizer_;
  StackDetail detail_;
  std::vector<std::string> libraries_;
  // What was asked for: by module and offset, by code and line.
  absl::flat_hash_map<std::pair<int, uint64_t>, std::unique_ptr<KnownFrames>> native_;
  absl::flat_hash_map<std::pair<uint32_t, uint32_t>, std::unique_ptr<KnownFrames>> python_;
  std::string pytorch_;  // the folder of PyTorch's package, which need not be installed as packages are; empty: none
};

}  // namespace vramtrack

#endif  // ANALYZER_ATTRIBUTION_STACK_SYMBOLIZER_H_
