// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_INGEST_TRACED_STACKS_H_
#define ANALYZER_INGEST_TRACED_STACKS_H_

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "analyzer/base/indices.h"
#include "analyzer/ingest/loaded_modules.h"
#include "analyzer/ingest/traced_codes.h"
#include "proto/schema_constants.h"

namespace vramtrack {

// Return addresses, innermost first. The frames of this and of PythonStackRef live as long as the table and are not
// moved once it is frozen.
struct StackRef {
  const uint64_t* frames = nullptr;
  size_t count = 0;
  uint32_t module_epoch = 0;
  bool truncated = false;
};

// One line of a Python function.
struct PythonFrame {
  uint32_t code = 0;   // TracedCodes' distinct one
  uint32_t line = 0;   // 0: none
  bool entry = false;  // native code began the interpreter anew for it

  bool operator==(const PythonFrame& other) const {
    return code == other.code && line == other.line && entry == other.entry;
  }
};

// Innermost first.
struct PythonStackRef {
  const PythonFrame* frames = nullptr;
  size_t count = 0;
  bool truncated = false;
};

// All that is known of how a thread came to an event. The native frames are the innermost ones, up to the interpreter,
// or all, its own included.
struct JoinedStackRef {
  StackRef native;
  PythonStackRef python;
  PythonStackRef forward;  // that made the graph node which the thread was evaluating
  schema::GraphNode node = schema::NODE_NONE;

  bool empty() const { return native.count + python.count + forward.count == 0 && node == schema::NODE_NONE; }
  bool truncated() const { return native.truncated || python.truncated; }
};

// The stacks of a trace by the number that the trace gave them, and as distinct stacks: two threads that met a new
// stack at the same moment gave it two numbers, and a stack met again after a library went away has another number too.
// Python frames are compared by line, not by instruction. Thread-safe once frozen.
class TracedStacks {
 public:
  // A number that is defined twice keeps its first definition.
  void Define(uint32_t id, const uint64_t* frames, size_t count, uint32_t module_epoch, bool truncated);
  // `codes` and `instructions` as in schema PythonStack, equally long.
  void DefinePython(uint32_t id, const std::vector<uint32_t>& codes, const std::vector<uint32_t>& instructions,
                    bool truncated);
  // Numbers of what is joined, 0 for none. `forward` may be the number of a joined stack, defined before or later: then
  // its `python` is the forward call, and its `node` the kind of node.
  void DefineJoined(uint32_t id, uint32_t native, uint32_t python, uint32_t forward, schema::GraphNode node);
  // Finds out which numbers mean the same stack. `modules` and `codes` must be frozen.
  void Freeze(const LoadedModules& modules, const TracedCodes& codes);

  // One more distinct stack, without frames and without a number of the trace. Returns its index. After Freeze, before
  // anybody asks.
  StackIndex AddEmpty() {
    distinct_.emplace_back();
    return distinct_.last_index();
  }

  // The empty stack for a number that is not defined.
  StackIndex Distinct(uint32_t id) const {
    const auto found = by_id_.find(id);
    return found == by_id_.end() ? kEmptyStack : found->second.distinct;
  }
  bool Defined(uint32_t id) const { return by_id_.count(id) != 0; }
  IndexRange<StackIndex> distinct() const { return distinct_.indices(); }
  size_t distinct_count() const { return distinct_.size(); }
  JoinedStackRef Get(StackIndex stack) const;
  // Whether other stacks are joined from it. It may be an event's own stack too.
  bool IsPart(StackIndex stack) const { return distinct_.Has(stack) && distinct_[stack].is_part; }

  // The native stacks alone, each once, for those who look for modules.
  size_t native_count() const { return native_.size(); }
  StackRef Native(size_t index) const;

 private:
  enum class Form : uint8_t { kNative, kPython, kJoined };
  struct Number {
    Form form;
    uint32_t index;  // into native_, python_ or joined_
    StackIndex distinct = kEmptyStack;
  };
  struct NativeStack {
    const uint64_t* frames;  // in frames_
    uint32_t count, module_epoch;
    uint32_t same;  // the first that is equal
    bool truncated;
  };
  struct PythonStack {
    size_t offset;  // into python_frames_
    uint32_t count;
    uint32_t same;
    bool truncated;
  };
  // Before Freeze numbers of the trace, then 1 + index, 0 for none.
  struct Joined {
    uint32_t native = 0, python = 0, forward = 0;
    schema::GraphNode node = schema::NODE_NONE;
    bool is_part = false;
  };

  static constexpr size_t kPieceFrames = 1 << 16;

  PythonStackRef Python(size_t index) const;
  uint32_t Find(uint32_t id, Form form) const;
  void FindForward(uint32_t forward, Joined* joined) const;
  void FindEqualNative(const std::vector<uint32_t>& order, const LoadedModules& modules);
  void FindEqualPython(const std::vector<uint32_t>& order, const TracedCodes& codes);

  std::unordered_map<uint32_t, Number> by_id_;
  std::vector<NativeStack> native_;
  std::vector<PythonStack> python_;
  std::vector<Joined> joined_;
  // Of native stacks, in pieces, as a single array would be copied while it grows.
  std::vector<std::vector<uint64_t>> frames_;
  std::vector<PythonFrame> python_frames_;  // before Freeze with the trace's numbers of codes, and instructions
  IndexedVector<StackIndex, Joined> distinct_{Joined()};
};

}  // namespace vramtrack

#endif  // ANALYZER_INGEST_TRACED_STACKS_H_
