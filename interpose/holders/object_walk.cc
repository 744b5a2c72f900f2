// SPDX-License-Identifier: Apache-2.0
#include "interpose/holders/object_walk.h"

#include <initializer_list>
#include <utility>

#include "interpose/base/clock.h"

namespace vramtrack::holders {
namespace {

// One with more waits until everything else is visited.
constexpr uint64_t kManyEntries = 1 << 20;
constexpr uint32_t kObjectsPerClock = 512;
constexpr int kMostLocals = 4096;
constexpr long long kMostNumber = 1LL << 32;

constexpr uint64_t kArrayBase = 48;  // of a view of NumPy's: what has the memory

constexpr Step kEntry = {schema::HOLDER_ENTRY, NameKind::kNone, 0};

// Whether nothing that an object refers to is left out when it is expanded, other than what is never reached.
bool ReachesAll(TypeKind kind) {
  switch (kind) {
    case TypeKind::kPlain:
    case TypeKind::kList:
    case TypeKind::kTuple:
    case TypeKind::kContainer:
    case TypeKind::kMethod:
    case TypeKind::kFunction:
    case TypeKind::kCell:
    case TypeKind::kWeakReference:
    case TypeKind::kThreadLocal:
      return true;
    default:
      return false;
  }
}

}  // namespace

schema::HolderStop ObjectWalk::Run(const PythonApi& api, uint64_t most_ns, bool failing, size_t expected) {
  api_ = &api;
  failing_ = failing;
  end_ns_ = ThreadCpuNs() + most_ns;
  until_clock_ = kObjectsPerClock;
  if (!memory_.Prepare()) return schema::HOLDERS_NO_MEMORY;
  reached_.Expect(expected);
  current_ = 0;
  stage_ = kOwn;
  LearnClass();
  ListTracked(most_ns / 3);
  ReachModules();
  ReachFrames();
  ReachHandledException();
  if (failing) ReachUnhandledException();
  // Without the whole list, nothing can be known of what no name reaches.
  const bool complete = Expand() && listed_ == schema::HOLDERS_COMPLETE && ReachTheRest();
  if (reached_.full()) return schema::HOLDERS_TOO_MANY_OBJECTS;
  if (reached_.no_memory()) return schema::HOLDERS_NO_MEMORY;
  if (!out_of_time_ && listed_ != schema::HOLDERS_COMPLETE) return listed_;
  return complete ? schema::HOLDERS_COMPLETE : schema::HOLDERS_OUT_OF_TIME;
}

void ObjectWalk::Free() {
  memory_.Unmap();
  reached_.Free();
  blocks_.Free();
  types_.Free();
  classes_.Free();
  unreached_.Free();
}

bool ObjectWalk::OutOfTime() {
  if (--until_clock_ != 0) return out_of_time_;
  until_clock_ = kObjectsPerClock;
  out_of_time_ = out_of_time_ || ThreadCpuNs() > end_ns_;
  return out_of_time_;
}

bool ObjectWalk::EndsAtEntry(uint64_t entry) {
  if (entry % kObjectsPerClock != kObjectsPerClock - 1) return false;
  out_of_time_ = out_of_time_ || ThreadCpuNs() > end_ns_;
  return out_of_time_ || reached_.full();
}

bool ObjectWalk::Expand() {
  for (;;) {
    // What waits would come before those that are next then.
    if (pending_.early() || !reached_.HasMore()) FollowAll();
    const uint32_t next = reached_.Pop();
    if (next == 0) return true;
    if (OutOfTime()) return false;
    Entry& entry = reached_[next];
    if ((entry.flags & kExpanded) != 0) continue;
    entry.flags |= kExpanded;
    current_ = next;
    stage_ = entry.stage;
    const uint64_t address = entry.address;
    const uint16_t flags = entry.flags;
    switch (entry.kind) {
      case ObjectKind::kPython:
        ExpandPython(address);
        break;
      case ObjectKind::kFrame:
        ExpandFrame(address);
        break;
      case ObjectKind::kTensor:
        ExpandTensorImpl(address, flags);
        break;
      case ObjectKind::kNode:
        ExpandNode(address, 0, NameKind::kNone);
        break;
      case ObjectKind::kCppObject:
        ExpandCppObject(address);
        break;
      case ObjectKind::kStorage:
        ExpandStorage(address);
        break;
    }
  }
}

// Before the object that refers to it is asked for the rest of what it refers to: that would be without names.
template <typename Expansion>
bool ObjectWalk::ExpandNow(uint64_t address, ObjectKind kind, Step step, uint16_t flags, Expansion expand) {
  const uint32_t found = reached_.Add(address, stage_);
  if (found == 0 || (reached_[found].flags & kExpanded) != 0) return false;
  Fill(&reached_[found], kind, step, static_cast<uint16_t>(flags | kExpanded), stage_);
  const uint32_t outer = current_;
  current_ = found;
  expand();
  current_ = outer;
  return true;
}

void ObjectWalk::ReachAttribute(uint64_t key, uint64_t value, uint16_t flags) {
  Step step = {schema::HOLDER_ATTRIBUTE, NameKind::kText, key};
  uint16_t of_value = 0;
  // A module of TorchScript has a wrapper around the dict of its submodules.
  if ((flags & kOfModule) != 0 && IsTextOf(*api_, key, "_modules")) {
    const TypeFacts type = FactsOf(value);
    const uint64_t modules =
        type.kind == TypeKind::kPlain ? AttributeOf(value, "_python_modules", type, *api_) : uint64_t{0};
    if (modules != 0 && (FlagsOf(TypeOf(modules)) & kIsDictType) != 0) Reach(modules, kSame, kModuleAttributes);
  }
  if ((flags & kOfModule) != 0 && FactsOf(value).kind == TypeKind::kDict) {
    const bool parameters = IsTextOf(*api_, key, "_parameters"), buffers = IsTextOf(*api_, key, "_buffers");
    if (parameters || buffers || IsTextOf(*api_, key, "_modules")) {
      of_value = kModuleAttributes | (parameters ? kParameters : buffers ? kBuffers : 0);
      step = kSame;
    } else if (IsTextOf(*api_, key, "_forward_hooks") || IsTextOf(*api_, key, "_forward_pre_hooks") ||
               IsTextOf(*api_, key, "_backward_hooks")) {
      step = {schema::HOLDER_HOOK, NameKind::kNone, 0};
      of_value = kContainer;
    }
  }
  if ((flags & kOfOptimizer) != 0 && IsTextOf(*api_, key, "state")) of_value = kOptimizerState;
  Reach(value, step, of_value);
}

void ObjectWalk::ExpandDict(uint64_t dict, uint64_t entries, uint16_t flags) {
  if (TypeOf(dict) == api_->dict && (flags & kOptimizerState) == 0) reached_[current_].flags |= kWhole;
  intptr_t position = 0;
  uint64_t key, value;
  for (uint64_t i = 0; !EndsAtEntry(i) && api_->dict_next(dict, &position, &key, &value) != 0; ++i) {
    const uint64_t key_flags = FlagsOf(TypeOf(key));
    const bool text = (key_flags & kIsTextType) != 0;
    if ((flags & kModuleAttributes) != 0 && text) {
      Reach(value, {schema::HOLDER_MODULE_ATTRIBUTE, NameKind::kText, key}, flags & (kParameters | kBuffers));
    } else if ((flags & kAttributes) != 0 && text) {
      ReachAttribute(key, value, flags);
    } else if ((flags & kContainer) != 0 || entries > kFewEntries) {
      Reach(value, kEntry);
    } else if (text) {
      Reach(value, {schema::HOLDER_KEY, NameKind::kText, key});
    } else {
      int overflow = 0;
      const bool number = (key_flags & kIsIntType) != 0;
      const long long of_key = number ? api_->int_value(key, &overflow) : 0;
      // A larger one is an id(), which says nothing and differs from run to run.
      const bool plain = number && overflow == 0 && of_key < kMostNumber && of_key > -kMostNumber;
      Reach(value, plain ? Step{schema::HOLDER_INDEX, NameKind::kNumber, static_cast<uint64_t>(of_key)} : kEntry);
    }
    // Keys of an optimizer's state are the parameters.
    if (!text && (key_flags & kIsIntType) == 0 && (flags & kOptimizerState) == 0) Reach(key, kEntry, 0, kLeftover);
  }
}

// Of an instance: with a dict, or without one.
void ObjectWalk::ExpandAttributes(uint64_t object, const TypeFacts& type) {
  const uint16_t flags =
      static_cast<uint16_t>((type.is_module ? kOfModule : 0) | (type.is_optimizer ? kOfOptimizer : 0));
  if (const uint64_t dict = AttributeDict(object, type, *api_)) {
    if (dict % 8 != 0) return;
    const auto of_dict = static_cast<uint16_t>(kAttributes | flags | (reached_[current_].flags & kOptimizerState));
    const auto expand = [&] { ExpandDict(dict, Load(dict + kDictUsed), of_dict); };
    const bool expanded = ExpandNow(dict, ObjectKind::kPython, kSame, of_dict, expand);
    // Since 3.13 such an object refers to the values itself, also where its dict was reached by another name.
    if (!expanded && api_->minor >= 13 && (type.flags & kHasInlineValues) != 0) expand();
    return;
  }
  const uint64_t* values = InlineAttributes(object, type, *api_);
  if (values == nullptr) return;
  const uint64_t keys = type.inline_keys;
  const uint32_t count = type.inline_names;
  for (uint32_t i = 0; i < count; ++i) {
    if (values[i] != 0) ReachAttribute(Load(keys + 16 * i), values[i], flags);
  }
}

void ObjectWalk::ExpandPython(uint64_t object) {
  // A copy: what is reached may take its place.
  const TypeFacts type = FactsOf(object);
  const uint16_t flags = reached_[current_].flags;
  if (stage_ < kLarge && EntriesOf(object, type, *api_) > kManyEntries) {
    Entry& entry = reached_[current_];
    entry.flags &= static_cast<uint16_t>(~kExpanded);
    entry.stage = kLarge;
    reached_.Push(kLarge, current_);
    return;
  }
  if (ReachesAll(type.kind)) reached_[current_].flags |= kWhole;
  Step referred = kMember;
  switch (type.kind) {
    case TypeKind::kSkip:
    case TypeKind::kModule:
      return;
    case TypeKind::kDict:
      ExpandDict(object, Load(object + kDictUsed), flags);
      if (type.type == api_->dict) return;
      break;
    case TypeKind::kList:
    case TypeKind::kTuple: {
      const bool list = type.kind == TypeKind::kList;
      const uint64_t count = Load(object + kVarSize);
      const uint64_t items = list ? Load(object + kListItems) : object + api_->offsets->tuple_items;
      const bool numbered = !list && count <= kFewEntries;
      for (uint64_t i = 0; i < count && items != 0 && !EndsAtEntry(i); ++i) {
        Reach(Load(items + 8 * i), numbered ? Step{schema::HOLDER_INDEX, NameKind::kNumber, i} : kEntry);
      }
      if (type.type == api_->list || type.type == api_->tuple) return;
      break;
    }
    case TypeKind::kContainer:
      Reach(ResultsOfCache(object, type, *api_), kSame, kContainer);
      referred = kEntry;
      break;
    case TypeKind::kFunction:
      return ExpandFunction(object);
    case TypeKind::kMethod:
      referred = kSame;
      break;
    case TypeKind::kCell:
      return Reach(Load(object + kCellContents), kSame);
    case TypeKind::kFrame:
      if (const uint64_t frame = FrameOf(object)) ExpandFrame(frame);
      break;
    case TypeKind::kTraceback:
      return ExpandTraceback(object);
    case TypeKind::kException:
      Reach(Load(object + api_->offsets->exception_traceback), kSame);
      break;
    case TypeKind::kType:
      if ((FlagsOf(object) & kIsHeapType) != 0) Reach(Load(object + kTypeDict), kSame, kAttributes);
      return;
    case TypeKind::kGenerator:
      ExpandGenerator(object);
      break;
    case TypeKind::kTensor:
      return ExpandTensor(object, type, flags);
    case TypeKind::kStorage:
      ExpandStorageObject(object, flags);
      break;
    case TypeKind::kAutogradNode:
      ExpandNode(object, reinterpret_cast<uint64_t>(NameOf(type.type)), NameKind::kCharacters);
      break;
    case TypeKind::kCppHolder:
      // An instance begins with the address of what it stands for (pybind11's instance, detail/common.h).
      if (type.basic_size >= 24 && memory_.IsHeap(Load(object + 16))) {
        ReachAt(Load(object + 16), ObjectKind::kCppObject, kSame, 0, GraphStage());
      }
      break;
    case TypeKind::kContext:
      return ExpandContext(object, type);
    case TypeKind::kObjectArray: {
      const ArrayItems items = ItemsOfArray(object, memory_);
      for (uint64_t i = 0; i < items.count && !EndsAtEntry(i); ++i) Reach(Load(items.first + 8 * i), kEntry);
      Reach(Load(object + kArrayBase), kSame);
      break;
    }
    case TypeKind::kThreadLocal:
      ExpandThreadLocal(object, type);
      break;
    case TypeKind::kWeakReference:
    case TypeKind::kPlain:
      break;
  }
  ExpandAttributes(object, type);
  ReachReferred(object, type, referred);
}

void ObjectWalk::ExpandFunction(uint64_t function) {
  const ObjectOffsets& o = *api_->offsets;
  const uint64_t code = Load(function + o.function_code), closure = Load(function + o.function_closure);
  if (closure != 0) {
    const uint64_t count = Load(closure + kVarSize);
    // The names of free variables are the last ones.
    const uint64_t names = Load(code + (o.code_all_names != 0 ? o.code_all_names : o.code_free));
    const uint64_t all = Load(names + kVarSize);
    for (uint64_t i = 0; i < count && count <= all; ++i) {
      const uint64_t name = Load(names + o.tuple_items + 8 * (all - count + i));
      Reach(Load(closure + o.tuple_items + 8 * i), {schema::HOLDER_CLOSURE, NameKind::kText, name});
    }
  }
  const auto special = [&](const char* name, uint16_t field) {
    Reach(Load(function + field), {schema::HOLDER_ATTRIBUTE, NameKind::kCharacters, reinterpret_cast<uint64_t>(name)});
  };
  special("__defaults__", o.function_defaults);
  special("__kwdefaults__", static_cast<uint16_t>(o.function_defaults + 8));
  // Of a module, these are reached already. Of one that sys.modules does not have, the module is the better name.
  Reach(Load(function + o.function_globals), kMember, kAttributes, kLeftover);
  if (o.function_builtins != 0) Reach(Load(function + o.function_builtins), kMember, kAttributes, kLeftover);
  const TypeFacts type = FactsOf(function);
  ExpandAttributes(function, type);
  ReachReferred(function, type, [&](uint64_t member) {
    // Reached otherwise, or nothing that holds anything.
    for (const uint16_t field : {o.function_globals, o.function_code, o.function_name, o.function_qualified_name}) {
      if (member == Load(function + field)) return;
    }
    if (o.function_builtins == 0 || member != Load(function + o.function_builtins)) Reach(member, kMember);
  });
}

uint64_t ObjectWalk::CodeOfFrame(uint64_t frame) const {
  const FrameOffsets& frames = api_->interpreter->offsets();
  const uint64_t code = Load(frame + frames.frame_code);
  return frames.chain == FrameChain::kShims ? code & ~uint64_t{3} : code;
}

void ObjectWalk::ExpandFrame(uint64_t frame) {
  const ObjectOffsets& o = *api_->offsets;
  const uint64_t code = CodeOfFrame(frame);
  if (code == 0 || TypeOf(code) != api_->code) return;
  const auto local = [&](uint64_t names, uint64_t name_index, uint64_t index) {
    uint64_t value = Load(frame + o.frame_locals + 8 * index);
    if (api_->minor >= 14) value = (value & 3) == 3 ? 0 : value & ~uint64_t{3};
    Reach(value, {schema::HOLDER_LOCAL, NameKind::kText, Load(names + o.tuple_items + 8 * name_index)});
  };
  if (o.code_all_names != 0) {
    const uint64_t names = Load(code + o.code_all_names);
    const auto count = Load<int32_t>(code + o.code_all_locals);
    for (int i = 0; i < count && i < kMostLocals && static_cast<uint64_t>(i) < Load(names + kVarSize); ++i) {
      const auto at = static_cast<uint64_t>(i);
      local(names, at, at);
    }
    return;
  }
  uint64_t index = static_cast<uint64_t>(Load<int32_t>(code + o.code_locals));
  const uint64_t variables = Load(code + o.code_variables);
  for (uint64_t i = 0; i < index && i < Load(variables + kVarSize); ++i) local(variables, i, i);
  for (const uint16_t field : {o.code_cells, o.code_free}) {
    const uint64_t names = Load(code + field), count = Load(names + kVarSize);
    for (uint64_t i = 0; i < count && i < kMostLocals; ++i) local(names, i, index++);
  }
}

uint64_t ObjectWalk::FrameOf(uint64_t object) const {
  const uint16_t field = api_->offsets->frame_object;
  return object != 0 && field != 0 ? Load(object + field) : object;
}

void ObjectWalk::ExpandGenerator(uint64_t generator) {
  const ObjectOffsets& o = *api_->offsets;
  uint64_t frame = generator + o.generator_frame;
  if (o.generator_state == 0) {
    frame = Load(frame);
    if (frame == 0) return;
    return Reach(frame, {schema::HOLDER_GENERATOR, NameKind::kCode, CodeOfFrame(frame)});
  }
  // Negative: not begun or suspended; 0: running. Others have no variables any more.
  if (Load<int8_t>(generator + o.generator_state) > 0) return;
  const uint64_t code = CodeOfFrame(frame);
  if (code == 0 || TypeOf(code) != api_->code) return;
  ExpandNow(frame, ObjectKind::kFrame, {schema::HOLDER_GENERATOR, NameKind::kCode, code}, 0,
            [&] { ExpandFrame(frame); });
}

// A threading.local has a dict with the dicts of attributes, one for each thread.
void ObjectWalk::ExpandThreadLocal(uint64_t object, const TypeFacts& type) {
  EachReferred(object, type, [this](uint64_t member) {
    intptr_t position = 0;
    uint64_t key, value;
    while (TypeOf(member) == api_->dict && api_->dict_next(member, &position, &key, &value) != 0) {
      if (TypeOf(value) == api_->dict) Reach(value, kSame, kAttributes);
    }
  });
}

// A context keeps its variables in a tree (CPython's hamt.c). A node has pairs of a variable and its value, which are
// visited one after the other, and further nodes.
void ObjectWalk::ExpandContext(uint64_t object, const TypeFacts& type) {
  const bool of_node = type.type != api_->context;
  uint64_t waiting = 0;  // a member whose partner has not come yet
  EachReferred(object, type, [&](uint64_t member) {
    const bool is_node = TypeOf(member) != api_->context && FactsOf(member).kind == TypeKind::kContext;
    if (!of_node || is_node) return Reach(member, kSame);
    if (waiting == 0) {
      waiting = member;
      return;
    }
    // The value comes first. If only one of them is a variable, this is the key in any case.
    uint64_t value = std::exchange(waiting, 0), key = member;
    if (TypeOf(key) != api_->context_variable) std::swap(key, value);
    if (TypeOf(key) != api_->context_variable) return;
    const uint64_t name = Load(key + kContextVariableName);
    const bool named = name != 0 && IsText(name);
    Reach(value, {schema::HOLDER_CONTEXT_VARIABLE, named ? NameKind::kText : NameKind::kNone, named ? name : 0});
    Reach(key, kMember, 0, kLeftover);
  });
}

void ObjectWalk::ExpandTraceback(uint64_t traceback) {
  const uint64_t object = Load(traceback + kTracebackFrame);
  if (object != 0 && TypeOf(object) == api_->frame) {
    const uint64_t frame = FrameOf(object);
    if (frame != 0) Reach(object, {schema::HOLDER_TRACEBACK, NameKind::kCode, CodeOfFrame(frame)});
  }
  const TypeFacts type = FactsOf(traceback);
  ReachReferred(traceback, type, kSame);
}

}  // namespace vramtrack::holders
