// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_ATTRIBUTION_STACK_SYMBOLIZER_H_
#define ANALYZER_ATTRIBUTION_STACK_SYMBOLIZER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
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
  kUseful,  // without the innermost frames of CUDA, vramtrack, the interpreter, and framework-internal frames
            // (glue.h)
  kRaw,     // all frames
};

// Converts the stacks of a trace to readable frames, with native and Python frames in call order. Thread-compatible.
// `definitions` and `symbolizer` must outlive it.
class StackSymbolizer {
 public:
  // `libraries`: the names for stacks after those of the trace, which consist of a library only; see UnseenMemory.
  StackSymbolizer(const Definitions& definitions, Symbolizer* symbolizer, StackDetail detail = StackDetail::kUseful,
                  std::vector<std::string> libraries = {});
  ~StackSymbolizer();

  // The only frame of the stack that represents PyTorch's pinned-memory pool.
  static constexpr char kPinnedPool[] = "PyTorch's pinned-memory pool";
  bool IsPinnedPool(StackIndex stack) const {
    return stack != kEmptyStack && stack == definitions_.torch_pinned_pool();
  }

  // Returns a function that reads a stack piece by piece, innermost first. Each call returns the functions at one more
  // return address, or one Python frame; nothing at the end of the stack.
  std::function<std::vector<ReportFrame>()> Reader(StackIndex stack);

  // Returns all frames of a stack; none for the empty stack. If all frames are framework-internal, none is left out.
  std::vector<ReportFrame> Frames(StackIndex stack);

  // Returns a hash that is equal for stacks whose Frames() are the same places: the same functions at the same lines,
  // or at the same offsets if there is no line. Much faster than comparing frames. Different stacks collide with a
  // probability of 2^-64.
  uint64_t PlacesHash(StackIndex stack);

  // Returns the name of the innermost module that decided to allocate: the first one that neither passes allocations on
  // (IsAllocationPlumbing) nor belongs to a framework's allocator. If there is only the allocator, returns its name;
  // empty if there is neither.
  std::string Owner(StackIndex stack) const;

 private:
  class Pieces;
  struct KnownFrame;
  using KnownFrames = std::vector<KnownFrame>;  // the functions at one return address, or one Python frame

  const std::string* LibraryOf(StackIndex stack) const;  // null for a stack of the trace
  // Returns the frame that stands for a stack without calls.
  std::optional<ReportFrame> OnlyFrame(StackIndex stack) const;
  template <typename Use>
  void ForEachShown(const JoinedStackRef& stack, Use use);
  int ModuleAt(uint64_t return_address, uint32_t module_epoch) const;
  StackRef Trimmed(const StackRef& whole);
  const KnownFrames& NativeFrames(uint64_t return_address, uint32_t module_epoch);
  const KnownFrames& PythonFrames(const PythonFrame& frame);
  ReportFrame FrameOf(const PythonFrame& frame) const;

  const Definitions& definitions_;
  Symbolizer* symbolizer_;
  StackDetail detail_;
  std::vector<std::string> libraries_;
  // Caches of symbolized frames: by module and offset, and by code and line.
  absl::flat_hash_map<std::pair<int, uint64_t>, std::unique_ptr<KnownFrames>> native_;
  absl::flat_hash_map<std::pair<uint32_t, uint32_t>, std::unique_ptr<KnownFrames>> python_;
  std::string pytorch_;  // the folder of PyTorch's package, which may be outside the usual places; empty if unknown
};

}  // namespace vramtrack

#endif  // ANALYZER_ATTRIBUTION_STACK_SYMBOLIZER_H_
