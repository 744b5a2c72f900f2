// SPDX-License-Identifier: Apache-2.0
//
// The part of a walk that goes through PyTorch's C++ objects: tensors, their storages, and the autograd graph. The
// fields of graph nodes are not known: every word of a node that points to a tensor, another node or an array of these
// is followed.
#include "interpose/holders/object_walk.h"

namespace vramtrack::holders {
namespace {

constexpr size_t kNodeWords = 256;  // of an object that are looked at
constexpr size_t kHookWords = 8;
constexpr size_t kMetaWords = 16;        // of a tensor's AutogradMeta, which is not smaller
constexpr size_t kUnknownWords = 32;     // of one whose size is not known: a node is not smaller
constexpr size_t kArrayWords = 1 << 14;  // of an array
constexpr size_t kBatch = 512;

constexpr Step kHook = {schema::HOLDER_HOOK, NameKind::kNone, 0};
// Dicts that a tensor refers to are its hooks, or members of classes derived from it.
constexpr Step kHookOrMember = {schema::HOLDER_HOOK, NameKind::kMember, 0};
constexpr Step kGraph = {schema::HOLDER_GRAPH, NameKind::kNone, 0};

}  // namespace

uint8_t ObjectWalk::GraphStage() const {
  constexpr uint8_t kBehind[kStages] = {kOwnGraph,       kOwnGraph,       kOwnGraph,    kInstalledGraph,
                                        kInstalledGraph, kInstalledGraph, kLarge,       kOutsideGraph,
                                        kOutsideGraph,   kGarbageGraph,   kGarbageGraph};
  return kBehind[stage_];
}

// Calls visit(address, class) for each of the addresses where an object of a known class begins.
template <typename Visit>
void ObjectWalk::ScanCandidates(const uint64_t* candidates, size_t count, Visit visit) {
  uint64_t tables[kBatch];
  for (size_t first = 0; first < count; first += kBatch) {
    const size_t some = count - first < kBatch ? count - first : kBatch;
    memory_.ReadWords(candidates + first, some, tables);
    for (size_t i = 0; i < some; ++i) {
      if (!memory_.IsFile(tables[i])) continue;
      const CppClasses::Known& known = classes_.Of(tables[i], memory_);
      if (known.kind != CppClass::kOther && known.kind != CppClass::kUnknown) visit(candidates[first + i], known);
    }
  }
}

template <typename Visit>
void ObjectWalk::ScanWords(const uint64_t* words, size_t count, Visit visit) {
  uint64_t candidates[kBatch];
  size_t found = 0;
  const auto add = [&](uint64_t word) {
    if (word == 0 || !memory_.IsHeap(word)) return;
    candidates[found++] = word;
    if (found == kBatch) {
      ScanCandidates(candidates, found, visit);
      found = 0;
    }
  };
  for (size_t i = 0; i < count; ++i) add(words[i]);
  // std::vector: the first element, the end, the end of the room.
  for (size_t i = 0; i + 2 < count; ++i) {
    const uint64_t begin = words[i], end = words[i + 1];
    if (begin >= end || end > words[i + 2] || end - begin > 8 * kArrayWords || end % 8 != 0) continue;
    if (!memory_.IsHeap(begin) || !memory_.IsHeap(end - 8) || !memory_.IsArray(begin, words[i + 2] - begin)) continue;
    uint64_t elements[256];
    for (uint64_t at = begin; at < end;) {
      const size_t bytes = end - at < sizeof elements ? end - at : sizeof elements;
      const size_t got = memory_.Read(at, elements, bytes) / 8;
      for (size_t k = 0; k < got; ++k) add(elements[k]);
      if (8 * got < bytes) break;
      at += bytes;
    }
  }
  if (found > 0) ScanCandidates(candidates, found, visit);
}

// A word of C++ may be a leftover, and what it points to be freed: only what the collector tracks is known to be alive.
bool ObjectWalk::IsLivePythonObject(uint64_t address) const {
  return address % 8 == 0 && reached_.Find(address) != 0 &&
         reached_[reached_.Find(address)].kind == ObjectKind::kPython;
}

// The Python objects that an object of C++ keeps in its first words.
void ObjectWalk::ReachPythonIn(uint64_t object, Step step) {
  uint64_t words[kHookWords];
  const size_t got = memory_.ReadObject(object, words, kHookWords);
  for (size_t i = 1; i < got; ++i) {
    if (!IsLivePythonObject(words[i])) continue;
    const TypeKind kind = FactsOf(words[i]).kind;
    if (kind == TypeKind::kSkip || kind == TypeKind::kModule || kind == TypeKind::kType) continue;
    Reach(words[i], step, kind == TypeKind::kDict ? kContainer : 0);
  }
}

void ObjectWalk::ExpandTensor(uint64_t object, const TypeFacts& type, uint16_t flags) {
  // One of the first words after the header of the object is its tensor.
  uint64_t impl = 0;
  for (size_t i = 0; i < 4 && impl == 0; ++i) {
    const size_t word = impl_word_ != 0 ? impl_word_ : 2 + i;
    const uint64_t at = Load(object + 8 * word);
    uint64_t table = 0;
    if (memory_.IsHeap(at)) memory_.ReadWords(&at, 1, &table);
    if (table != 0 && classes_.Of(table, memory_).kind == CppClass::kTensor) {
      impl = at;
      impl_word_ = word;
    } else if (impl_word_ != 0) {
      break;
    }
  }
  const auto uses = static_cast<uint16_t>(flags & kUses);
  if (impl != 0) ReachAt(impl, ObjectKind::kTensor, kSame, uses, stage_);
  // A tensor without memory of its own, such as a DTensor, has others in its attributes.
  TensorFacts facts;
  wrapped_uses_ = uses != 0 && impl != 0 && (!ReadTensor(impl, &facts) || facts.data == 0) ? uses : 0;
  ExpandAttributes(object, type);
  ReachReferred(object, type, [this](uint64_t member) {
    const TypeKind kind = FactsOf(member).kind;
    // The node of a torch.autograd.Function is among them.
    if (kind == TypeKind::kAutogradNode) return Reach(member, kGraph, 0, GraphStage());
    Reach(member, kind == TypeKind::kDict ? kHookOrMember : kMember);
  });
  wrapped_uses_ = 0;
}

bool ObjectWalk::ReadTensor(uint64_t impl, TensorFacts* facts) {
  uint64_t words[TensorLayout::kWords];
  const size_t count = memory_.Read(impl, words, sizeof words) / 8;
  return count > 2 && layout_.Read(words, count, &classes_, memory_, facts);
}

void ObjectWalk::ExpandStorageObject(uint64_t object, uint16_t flags) {
  uint64_t words[4];
  std::memcpy(words, reinterpret_cast<const void*>(object + 16), sizeof words);
  ScanWords(words, 2, [&](uint64_t at, const CppClasses::Known& known) {
    if (known.kind == CppClass::kStorage) ReachAt(at, ObjectKind::kStorage, kSame, flags, stage_);
  });
}

void ObjectWalk::ExpandStorage(uint64_t storage) {
  TensorFacts facts = {};
  facts.dimensions = UINT8_MAX;
  if (layout_.known() && layout_.ReadStorage(storage, memory_, &facts)) AddBlock(facts);
}

void ObjectWalk::AddBlock(const TensorFacts& facts) {
  if (facts.data == 0 || !facts.is_recorded || !blocks_.Reserve(1)) return;
  // Objects have even addresses: the address of memory on a device may be that of an object.
  const uint16_t uses = reached_[current_].flags & kUses;
  const uint32_t mark = reached_.Add(facts.data | 1, 0);
  if (mark == 0) return NoteUseOfMemory(facts.data, uses);
  reached_[mark].name = blocks_.size();
  HeldBlock block = {};
  block.uses = uses;
  block.address = facts.data;
  block.bytes = facts.bytes;
  block.entry = current_;
  block.facts = facts;
  const uint32_t parent = reached_[current_].parent;
  const bool of_python = reached_[current_].kind == ObjectKind::kTensor && parent != 0 &&
                         reached_[parent].kind == ObjectKind::kPython && reached_[current_].step == schema::HOLDER_NONE;
  if (of_python) block.python_type = TypeOf(reached_[parent].address);
  blocks_.Add(block);
}

void ObjectWalk::NoteUseOfMemory(uint64_t data, uint16_t use) {
  const uint32_t mark = data == 0 || use == 0 ? 0 : reached_.Find(data | 1);
  if (mark != 0) blocks_.data()[reached_[mark].name].uses |= use;
}

// The Python object of a tensor that C++ holds.
void ObjectWalk::ReachPythonTensorOf(uint64_t impl, const uint64_t* words, size_t count, uint16_t flags) {
  const Entry& entry = reached_[current_];
  // It was reached from there.
  if (entry.step == schema::HOLDER_NONE && reached_[entry.parent].kind == ObjectKind::kPython) return;
  for (size_t i = 2; i < count && impl_word_ != 0; ++i) {
    const uint64_t object = words[i] & ~uint64_t{1};  // PyTorch 1.11 and later mark in it who owns whom
    if (!IsLivePythonObject(object) || FactsOf(object).kind != TypeKind::kTensor) continue;
    if (Load(object + 8 * impl_word_) == impl) return Reach(object, kSame, flags & kUses, stage_);
  }
}

void ObjectWalk::ExpandTensorImpl(uint64_t impl, uint16_t flags) {
  uint64_t words[TensorLayout::kWords];
  const size_t count = memory_.Read(impl, words, sizeof words) / 8;
  TensorFacts facts;
  if (!layout_.Read(words, count, &classes_, memory_, &facts)) return;
  AddBlock(facts);
  ReachPythonTensorOf(impl, words, count, flags);
  if (facts.autograd == 0) return;
  uint64_t meta[kNodeWords];
  size_t meta_words = memory_.ReadObject(facts.autograd, meta, kNodeWords);
  if (meta_words == 0) meta_words = memory_.Read(facts.autograd, meta, 8 * kMetaWords) / 8;
  // A tensor that has a gradient, or a node that makes or takes one, requires it.
  bool requires_gradient = false;
  // The table, the tensor's name and its gradient come first (variable.h). A short name is in the std::string itself,
  // and one of the old kind is only a pointer.
  const size_t gradient_word = meta_words > 1 && meta[1] == facts.autograd + 24 ? 5 : 2;
  ScanWords(meta, meta_words, [&](uint64_t at, const CppClasses::Known& known) {
    switch (known.kind) {
      case CppClass::kAccumulateGrad:
        requires_gradient = true;
        return LearnNodeSize(at, impl);
      case CppClass::kTensor: {
        TensorFacts other;
        if (at == impl || !ReadTensor(at, &other)) return;
        if (gradient_word < meta_words && at == meta[gradient_word]) {
          requires_gradient = true;
          return ReachAt(at, ObjectKind::kTensor, {schema::HOLDER_GRADIENT, NameKind::kNone, 0}, kGradient, stage_);
        }
        // What the tensor is a view of. Other words may be leftovers.
        if (other.data == facts.data && other.data != 0) ReachAt(at, ObjectKind::kTensor, kSame, flags, stage_);
        return;
      }
      case CppClass::kNode:
      case CppClass::kPythonNode:
        requires_gradient = true;
        return ReachAt(at, ObjectKind::kNode, kGraph, 0, GraphStage());
      case CppClass::kPythonHook:
        return ReachPythonIn(at, kHook);
      default:
        return;
    }
  });
  if (requires_gradient) reached_[current_].flags |= kRequiresGradient;
}

// The node that adds to a leaf's gradient is torch::autograd::Node and the leaf (accumulate_grad.h), so the leaf is
// where the members of all nodes begin.
void ObjectWalk::LearnNodeSize(uint64_t node, uint64_t leaf) {
  uint64_t words[kNodeWords];
  size_t at = memory_.ReadObject(node, words, kNodeWords);
  while (at > 0 && words[at - 1] != leaf) --at;
  if (at > 0 && (node_words_ == 0 || at - 1 < node_words_)) node_words_ = at - 1;
}

// A node of C++, or the Python object for one.
void ObjectWalk::ExpandNode(uint64_t node, uint64_t name, NameKind kind) {
  uint64_t words[kNodeWords];
  size_t count;
  bool of_python = false;
  // What all nodes have includes space that is not used, with what was in this memory before.
  size_t common = 0;
  bool of_leaf = false;
  if (reached_[current_].kind == ObjectKind::kPython) {
    const uint64_t bytes = Load(TypeOf(node) + kTypeBasicSize);
    count = bytes / 8 < kNodeWords ? bytes / 8 : kNodeWords;
    std::memcpy(words, reinterpret_cast<const void*>(node), 8 * count);
  } else {
    count = memory_.ReadObject(node, words, kNodeWords);
    if (count == 0) count = memory_.Read(node, words, 8 * kUnknownWords) / 8;
    if (count == 0) return;
    const CppClasses::Known& known = classes_.Of(words[0], memory_);
    name = reinterpret_cast<uint64_t>(known.name);
    kind = NameKind::kClass;
    of_python = known.kind == CppClass::kPythonNode;
    of_leaf = known.kind == CppClass::kAccumulateGrad;
    common = node_words_ < count ? node_words_ : count;
  }
  // What adds to the gradient of a leaf keeps the leaf, and saves nothing.
  const Step saved = of_leaf ? kSame : Step{schema::HOLDER_SAVED, kind, name};
  const uint16_t use = of_leaf ? 0 : kSaved;
  bool is_member = false;
  const auto visit = [&](uint64_t at, const CppClasses::Known& known) {
    if (at == node) return;
    switch (known.kind) {
      case CppClass::kTensor:
        if (is_member) ReachAt(at, ObjectKind::kTensor, saved, use, GraphStage());
        return;
      case CppClass::kAccumulateGrad:
        // Most leaves are parameters of some module, and have its name.
        return ReachAt(at, ObjectKind::kNode, kSame, 0, kLeftover);
      case CppClass::kNode:
      case CppClass::kPythonNode:
        return ReachAt(at, ObjectKind::kNode, kSame, 0, GraphStage());
      case CppClass::kPythonHook:
        return ReachPythonIn(at, kHook);
      case CppClass::kPythonSaved:
        return ReachPythonIn(at, saved);
      default:
        return;
    }
  };
  ScanWords(words, common, visit);
  is_member = true;
  ScanWords(words + common, count - common, visit);
  if (!of_python) return;
  for (size_t i = 1; i < count; ++i) {
    if (IsLivePythonObject(words[i]) && FactsOf(words[i]).kind == TypeKind::kAutogradNode) {
      Reach(words[i], kSame);
    }
  }
}

// What PyTorch keeps in an object that Python knows only by its address, such as the buckets of a reducer.
void ObjectWalk::ExpandCppObject(uint64_t object) {
  const Entry& holder = reached_[reached_[current_].parent];
  const uint64_t type = holder.kind == ObjectKind::kPython ? TypeOf(holder.address) : 0;
  if (types_.IsBarren(type)) return;
  uint64_t words[kNodeWords];
  const size_t count = memory_.ReadObject(object, words, kNodeWords);
  if (count == 0) return;
  const CppClasses::Known& own = classes_.Of(words[0], memory_);
  if (own.kind == CppClass::kNode || own.kind == CppClass::kPythonNode) {
    return ReachAt(object, ObjectKind::kNode, kSame, 0, GraphStage());
  }
  bool found = false;
  ScanWords(words, count, [&](uint64_t at, const CppClasses::Known& known) {
    found = true;
    if (known.kind == CppClass::kTensor) ReachAt(at, ObjectKind::kTensor, kMember, 0, stage_);
    if (known.kind == CppClass::kStorage) ReachAt(at, ObjectKind::kStorage, kMember, 0, stage_);
    if (known.kind == CppClass::kContainer) ReachAt(at, ObjectKind::kCppObject, kSame, 0, stage_);
  });
  types_.NoteSearched(type, found);
}

}  // namespace vramtrack::holders
