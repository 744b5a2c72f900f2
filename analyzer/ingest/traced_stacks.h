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

// A native stack: return addresses, innermost first. The frames of this and of PythonStackRef are valid as long as the
// table, and do not move once it is frozen.
struct StackRef {
  const uint64_t* frames = nullptr;
  size_t count = 0;
  uint32_t module_epoch = 0;
  bool truncated = false;
};

// One line of a Python function.
struct PythonFrame {
  uint32_t code = 0;   // index of a distinct code object of TracedCodes
  uint32_t line = 0;   // 0: none
  bool entry = false;  // native code entered the interpreter anew for this frame

  bool operator==(const PythonFrame& other) const {
    return code == other.code && line == other.line && entry == other.entry;
  }
};

// A Python stack, innermost frame first.
struct PythonStackRef {
  const PythonFrame* frames = nullptr;
  size_t count = 0;
  bool truncated = false;
};

// A native and a Python stack that led to the same event. The native frames are either the innermost ones, up to the
// interpreter, or all of them, including those of the interpreter.
struct JoinedStackRef {
  StackRef native;
  PythonStackRef python;
  PythonStackRef forward;  // the stack that created the graph node which the thread was evaluating
  schema::GraphNode node = schema::NODE_NONE;

  bool empty() const { return native.count + python.count + forward.count == 0 && node == schema::NODE_NONE; }
  bool truncated() const { return native.truncated || python.truncated; }
};

// Maps the numbers of a trace's stacks to distinct stacks. One stack can have several numbers: when two threads met it
// at the same moment, or when it was met again after a library was unloaded. Python frames are compared by line, not by
// instruction. Thread-safe once frozen.
class TracedStacks {
 public:
  // Adds a native stack; copies the frames. A number that is defined twice keeps its first definition.
  void Define(uint32_t id, const uint64_t* frames, size_t count, uint32_t module_epoch, bool truncated);
  // Adds a Python stack. `codes` and `instructions` are as in the schema's PythonStack, and equally long.
  void DefinePython(uint32_t id, const std::vector<uint32_t>& codes, const std::vector<uint32_t>& instructions,
                    bool truncated);
  // Adds a joined stack by the numbers of its parts; 0 for none. `forward` may be the number of a joined stack, defined
  // before or later. In that case its `python` is the forward call, and its `node` the kind of node.
  void DefineJoined(uint32_t id, uint32_t native, uint32_t python, uint32_t forward, schema::GraphNode node);
  // Finds the numbers that mean the same stack. `modules` and `codes` must be frozen.
  void Freeze(const LoadedModules& modules, const TracedCodes& codes);

  // Adds a distinct stack without frames and without a number in the trace, and returns its index. To be called before
  // Freeze, so that the index does not depend on the number of stacks.
  StackIndex AddEmpty() {
    distinct_.emplace_back();
    return distinct_.last_index();
  }

  // Returns the distinct stack of a number; the empty stack for an undefined number.
  StackIndex Distinct(uint32_t id) const {
    const auto found = by_id_.find(id);
    return found == by_id_.end() ? kEmptyStack : found->second.distinct;
  }
  bool Defined(uint32_t id) const { return by_id_.count(id) != 0; }
  IndexRange<StackIndex> distinct() const { return distinct_.indices(); }
  size_t distinct_count() const { return distinct_.size(); }
  JoinedStackRef Get(StackIndex stack) const;
  // Returns whether every distinct stack of `other`, which is frozen as well, has the same index here.
  bool BeginsWith(const TracedStacks& other) const;
  // Returns whether the stack is a part of joined stacks. It may also be the stack of an event.
  bool IsPart(StackIndex stack) const { return distinct_.Has(stack) && distinct_[stack].is_part; }

  // Access to the native stacks alone, for callers that look for modules.
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
    uint32_t same;  // index of the first equal stack
    bool truncated;
  };
  struct PythonStack {
    size_t offset;  // into python_frames_
    uint32_t count;
    uint32_t same;
    bool truncated;
  };
  // The parts: before Freeze numbers of the trace, afterwards 1 + index; 0 for none.
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
  // The frames of native stacks, in pieces, so that frames are not copied when there are more.
  std::vector<std::vector<uint64_t>> frames_;
  std::vector<PythonFrame> python_frames_;  // before Freeze: with the trace's code numbers, and instructions as lines
  IndexedVector<StackIndex, Joined> distinct_{Joined()};
};

}  // namespace vramtrack

#endif  // ANALYZER_INGEST_TRACED_STACKS_H_
