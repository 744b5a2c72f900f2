// SPDX-License-Identifier: Apache-2.0
#include "analyzer/ingest/traced_stacks.h"
#include "proto/hash.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace vramtrack {
namespace {

uint64_t HashOf(const StackRef& stack) {
  uint64_t hash = stack.count;
  for (size_t i = 0; i < stack.count; ++i) hash = Mix(hash, stack.frames[i]);
  return hash;
}

uint64_t HashOf(const PythonStackRef& stack) {
  uint64_t hash = stack.count;
  for (size_t i = 0; i < stack.count; ++i) {
    hash = Mix(hash, (static_cast<uint64_t>(stack.frames[i].code) << 32) + stack.frames[i].line);
  }
  return hash;
}

bool SameStack(const StackRef& a, const StackRef& b, const LoadedModules& modules) {
  if (a.count != b.count || !std::equal(a.frames, a.frames + a.count, b.frames)) return false;
  if (a.module_epoch == b.module_epoch) return true;
  // The same addresses may have been another library's in between.
  for (size_t i = 0; i < a.count; ++i) {
    if (modules.Find(a.frames[i], a.module_epoch) != modules.Find(b.frames[i], b.module_epoch)) return false;
  }
  return true;
}

bool SameStack(const PythonStackRef& a, const PythonStackRef& b) {
  return a.count == b.count && std::equal(a.frames, a.frames + a.count, b.frames);
}

// The first of the stacks with this hash that `same` says is equal; `index`, noted for the next ones, if there is none.
template <typename Same>
uint32_t FirstEqual(uint64_t hash, uint32_t index, std::unordered_multimap<uint64_t, uint32_t>* by_hash,
                    const Same& same) {
  const auto [begin, end] = by_hash->equal_range(hash);
  const auto found = std::find_if(begin, end, [&](const auto& candidate) { return same(candidate.second); });
  if (found != end) return found->second;
  by_hash->emplace(hash, index);
  return index;
}

}  // namespace

void TracedStacks::Define(uint32_t id, const uint64_t* frames, size_t count, uint32_t module_epoch, bool truncated) {
  if (!by_id_.emplace(id, Number{Form::kNative, static_cast<uint32_t>(native_.size())}).second) return;
  if (frames_.empty() || frames_.back().capacity() - frames_.back().size() < count) {
    frames_.emplace_back();
    // The first pieces are small: most traces have few stacks, and a job has many processes.
    frames_.back().reserve(
        std::max(count, std::min(kPieceFrames, size_t{1024} << std::min<size_t>(frames_.size(), 6))));
  }
  std::vector<uint64_t>& piece = frames_.back();
  piece.insert(piece.end(), frames, frames + count);
  native_.push_back({piece.data() + piece.size() - count, static_cast<uint32_t>(count), module_epoch, 0, truncated});
}

void TracedStacks::DefinePython(uint32_t id, const std::vector<uint32_t>& codes,
                                const std::vector<uint32_t>& instructions, bool truncated) {
  if (!by_id_.emplace(id, Number{Form::kPython, static_cast<uint32_t>(python_.size())}).second) return;
  python_.push_back({python_frames_.size(), static_cast<uint32_t>(codes.size()), 0, truncated});
  for (size_t i = 0; i < codes.size(); ++i) {
    python_frames_.push_back({codes[i], instructions[i] & ~1u, (instructions[i] & 1) != 0});
  }
}

void TracedStacks::DefineJoined(uint32_t id, uint32_t native, uint32_t python, uint32_t forward,
                                schema::GraphNode node) {
  if (!by_id_.emplace(id, Number{Form::kJoined, static_cast<uint32_t>(joined_.size())}).second) return;
  joined_.push_back({native, python, forward, node});
}

void TracedStacks::Freeze(const LoadedModules& modules, const TracedCodes& codes) {
  // By number, so that what is called distinct stack 1, 2, ... does not depend on the order of blocks in the file.
  std::vector<uint32_t> order;
  order.reserve(by_id_.size());
  for (const auto& [id, number] : by_id_) order.push_back(id);
  std::sort(order.begin(), order.end());
  FindEqualNative(order, modules);
  FindEqualPython(order, codes);

  using Key = std::tuple<uint32_t, uint32_t, uint32_t, schema::GraphNode>;
  std::map<Key, StackIndex> by_parts = {{Key(0, 0, 0, schema::NODE_NONE), kEmptyStack}};
  const auto number_of = [&](const Joined& joined) {
    const auto [found, is_new] =
        by_parts.emplace(Key(joined.native, joined.python, joined.forward, joined.node), distinct_.next_index());
    if (is_new) distinct_.push_back(joined);
    return found->second;
  };
  std::vector<uint32_t> parts;
  for (const uint32_t id : order) {
    Number& number = by_id_.at(id);
    Joined joined;
    if (number.form == Form::kNative) joined.native = Find(id, Form::kNative);
    if (number.form == Form::kPython) joined.python = Find(id, Form::kPython);
    if (number.form == Form::kJoined) {
      const Joined& defined = joined_[number.index];
      joined = {Find(defined.native, Form::kNative), Find(defined.python, Form::kPython), 0, defined.node};
      FindForward(defined.forward, &joined);
      for (const uint32_t part : {defined.native, defined.python, defined.forward}) parts.push_back(part);
    }
    number.distinct = number_of(joined);
  }
  for (const uint32_t part : parts) distinct_[Distinct(part)].is_part = true;
}

void TracedStacks::FindEqualNative(const std::vector<uint32_t>& order, const LoadedModules& modules) {
  std::unordered_multimap<uint64_t, uint32_t> by_hash;
  for (const uint32_t id : order) {
    const Number& number = by_id_.at(id);
    if (number.form != Form::kNative) continue;
    const StackRef stack = Native(number.index);
    native_[number.index].same = FirstEqual(HashOf(stack), number.index, &by_hash,
                                            [&](uint32_t other) { return SameStack(Native(other), stack, modules); });
  }
}

void TracedStacks::FindEqualPython(const std::vector<uint32_t>& order, const TracedCodes& codes) {
  for (PythonFrame& frame : python_frames_) {
    frame.code = codes.Distinct(frame.code);
    frame.line = codes.LineAt(frame.code, frame.line);
  }
  std::unordered_multimap<uint64_t, uint32_t> by_hash;
  for (const uint32_t id : order) {
    const Number& number = by_id_.at(id);
    if (number.form != Form::kPython) continue;
    const PythonStackRef stack = Python(number.index);
    python_[number.index].same = FirstEqual(HashOf(stack), number.index, &by_hash,
                                            [&](uint32_t other) { return SameStack(Python(other), stack); });
  }
}

// The forward call of a node, which may be defined later. A node that another one made has its forward call.
void TracedStacks::FindForward(uint32_t forward, Joined* joined) const {
  constexpr int kMostLater = 4;
  for (int i = 0; i < kMostLater; ++i) {
    const auto later = by_id_.find(forward);
    if (later == by_id_.end() || later->second.form != Form::kJoined) break;
    const Joined& defined = joined_[later->second.index];
    joined->node = defined.node;
    forward = defined.python;
  }
  joined->forward = Find(forward, Form::kPython);
}

// 1 + index of the first stack that is equal to the one of this number; 0 if there is none of this form, or it is
// empty.
uint32_t TracedStacks::Find(uint32_t id, Form form) const {
  const auto found = by_id_.find(id);
  if (found == by_id_.end() || found->second.form != form) return 0;
  const uint32_t index = found->second.index;
  if (form == Form::kNative) return native_[index].count == 0 ? 0 : native_[index].same + 1;
  return python_[index].count == 0 ? 0 : python_[index].same + 1;
}

JoinedStackRef TracedStacks::Get(StackIndex stack) const {
  JoinedStackRef found;
  if (!distinct_.Has(stack)) return found;
  const Joined& joined = distinct_[stack];
  if (joined.native != 0) found.native = Native(joined.native - 1);
  if (joined.python != 0) found.python = Python(joined.python - 1);
  if (joined.forward != 0) found.forward = Python(joined.forward - 1);
  found.node = joined.node;
  return found;
}

bool TracedStacks::BeginsWith(const TracedStacks& other) const {
  if (distinct_.size() < other.distinct_.size()) return false;
  for (const StackIndex i : other.distinct()) {
    const JoinedStackRef here = Get(i), there = other.Get(i);
    const StackRef &a = here.native, &b = there.native;
    if (a.count != b.count || a.module_epoch != b.module_epoch || !std::equal(a.frames, a.frames + a.count, b.frames)) {
      return false;
    }
    if (here.node != there.node || !SameStack(here.python, there.python)) return false;
    if (!SameStack(here.forward, there.forward)) return false;
  }
  return true;
}

StackRef TracedStacks::Native(size_t index) const {
  const NativeStack& stack = native_[index];
  return {stack.frames, stack.count, stack.module_epoch, stack.truncated};
}

PythonStackRef TracedStacks::Python(size_t index) const {
  const PythonStack& stack = python_[index];
  return {python_frames_.data() + stack.offset, stack.count, stack.truncated};
}

}  // namespace vramtrack
