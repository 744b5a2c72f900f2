// SPDX-License-Identifier: Apache-2.0
#include "interpose/holders/object_types.h"

namespace vramtrack::holders {
namespace {

constexpr int kMaxBases = 64;

// By the names of types in C: of PyTorch, pybind11 and Python's own containers.
TypeKind KindByName(const char* name) {
  struct Known {
    const char* name;
    TypeKind kind;
  };
  static constexpr Known kKnown[] = {
      {"torch._C.TensorBase", TypeKind::kTensor},
      {"torch._C._TensorBase", TypeKind::kTensor},
      {"torch._C.StorageBase", TypeKind::kStorage},
      {"torch._C._StorageBase", TypeKind::kStorage},
      {"torch._C._FunctionBase", TypeKind::kAutogradNode},
      {"pybind11_object", TypeKind::kCppHolder},
      {"pybind11_builtins.pybind11_object", TypeKind::kCppHolder},
      {"set", TypeKind::kContainer},
      {"frozenset", TypeKind::kContainer},
      {"collections.deque", TypeKind::kContainer},
      {"functools._lru_cache_wrapper", TypeKind::kContainer},
      {"numpy.ndarray", TypeKind::kObjectArray},
      {"_thread._local", TypeKind::kThreadLocal},
      {"hamt", TypeKind::kContext},
      {"hamt_bitmap_node", TypeKind::kContext},
      {"hamt_array_node", TypeKind::kContext},
      {"hamt_collision_node", TypeKind::kContext},
  };
  for (const Known& known : kKnown) {
    if (std::strcmp(known.name, name) == 0) return known.kind;
  }
  return TypeKind::kSkip;
}

// Only objects for a graph node have this attribute.
bool HasNextFunctions(uint64_t type) {
  uint64_t getter = Load(type + kTypeGetters);
  for (int i = 0; getter != 0 && i < 64; ++i, getter += kGetterBytes) {
    const char* name = Load<const char*>(getter + kGetterName);
    if (name == nullptr) return false;
    if (std::strcmp(name, "next_functions") == 0) return true;
  }
  return false;
}

TypeKind KindOf(uint64_t type, uint64_t flags, const PythonApi& api) {
  if (type == api.weak_reference || type == api.weak_proxy || type == api.weak_callable) {
    return TypeKind::kWeakReference;
  }
  if (type == api.code) return TypeKind::kSkip;
  if (type == api.function) return TypeKind::kFunction;
  if (type == api.method) return TypeKind::kMethod;
  if (type == api.cell) return TypeKind::kCell;
  if (type == api.frame) return TypeKind::kFrame;
  if (type == api.traceback) return TypeKind::kTraceback;
  if (type == api.context) return TypeKind::kContext;
  if (type == api.generator || type == api.coroutine || type == api.async_generator) return TypeKind::kGenerator;
  if ((flags & kIsDictType) != 0) return TypeKind::kDict;
  if ((flags & kIsListType) != 0) return TypeKind::kList;
  if ((flags & kIsTupleType) != 0) return TypeKind::kTuple;
  if ((flags & kIsTypeType) != 0) return TypeKind::kType;
  if ((flags & kIsExceptionType) != 0) return TypeKind::kException;
  uint64_t base = type;
  for (int i = 0; base != 0 && i < kMaxBases; ++i, base = Load(base + kTypeBase)) {
    if (base == api.module) return TypeKind::kModule;
    if (base == api.weak_reference) return TypeKind::kWeakReference;
    // A class of the program may have any name.
    const bool named =
        (FlagsOf(base) & kIsHeapType) == 0 || std::strncmp(NameOf(base), "pybind11", 8) == 0 ||
        std::strncmp(NameOf(base), "torch._C.", 9) == 0 || std::strncmp(NameOf(base), "collections.", 12) == 0 ||
        std::strncmp(NameOf(base), "functools.", 10) == 0 || std::strncmp(NameOf(base), "_thread.", 8) == 0;
    if (named) {
      const TypeKind kind = KindByName(NameOf(base));
      if (kind != TypeKind::kSkip) return kind;
    }
  }
  if (HasNextFunctions(type)) return TypeKind::kAutogradNode;
  return (flags & kHasGc) != 0 ? TypeKind::kPlain : TypeKind::kSkip;
}

// The names of the attributes that instances may keep in themselves: a table that the type's instances share. Returns
// false if they may keep some and the names are not found.
bool FindInlineNames(const PythonApi& api, const ProcessMemory& memory, TypeFacts* facts) {
  const auto readable = [&](uint64_t at) { return at % 8 == 0 && (memory.IsHeap(at) || memory.IsFile(at)); };
  if (api.minor < 11 || (facts->flags & kHasManagedDict) == 0 || (facts->flags & kIsHeapType) == 0) return true;
  if (api.minor >= 13 && (facts->flags & kHasInlineValues) == 0) return true;
  const uint64_t keys = Load(facts->type + api.offsets->type_cached_keys);
  if (!readable(keys) || !readable(keys + kKeysCount)) return false;
  const auto log = Load<uint8_t>(keys + kKeysIndexBytesLog);
  const uint64_t count = Load(keys + kKeysCount);
  if (log > 16 || count > 64) return false;
  const uint64_t first = keys + kKeysIndices + (uint64_t{1} << log);
  for (uint64_t i = 0; i < count; ++i) {
    const uint64_t name = readable(first + 16 * i) ? Load(first + 16 * i) : 0;
    if (!readable(name + kObjectType)) return false;
  }
  facts->inline_names = static_cast<uint32_t>(count);
  facts->inline_keys = first;
  return true;
}

// Whether all that an instance refers to is in its dict, or inline: a class in Python without __slots__, as are all its
// bases. Such classes have one function that visits what an instance refers to.
bool HasOnlyAttributes(const PythonApi& api, uint64_t type, Traverse of_class) {
  uint64_t base = type;
  for (int i = 0; i < kMaxBases; ++i, base = Load(base + kTypeBase)) {
    if (base == api.object) return true;
    if (base == 0 || (FlagsOf(base) & kIsHeapType) == 0 || Load(base + kVarSize) != 0) return false;
    if (Load<Traverse>(base + kTypeTraverse) != of_class) return false;
  }
  return false;
}

}  // namespace

void ObjectTypes::LearnClass(uint64_t type) {
  if ((FlagsOf(type) & kIsHeapType) != 0) of_class_ = Load<Traverse>(type + kTypeTraverse);
}

TypeFacts ObjectTypes::Learn(uint64_t type, const PythonApi& api, const ProcessMemory& memory) const {
  TypeFacts facts = {};
  facts.type = type;
  facts.flags = FlagsOf(type);
  facts.traverse = (facts.flags & kHasGc) != 0 ? Load<Traverse>(type + kTypeTraverse) : nullptr;
  facts.dict_offset = Load<int64_t>(type + kTypeDictOffset);
  facts.basic_size = Load(type + kTypeBasicSize);
  facts.item_size = Load(type + kTypeItemSize);
  facts.kind = KindOf(type, facts.flags, api);
  if (facts.kind == TypeKind::kPlain) {
    facts.is_module = DerivesFrom(api, type, "Module", "torch.nn.modules.module");
    facts.is_optimizer = DerivesFrom(api, type, "Optimizer", "torch.optim.optimizer");
  }
  const bool named = facts.kind == TypeKind::kSkip || FindInlineNames(api, memory, &facts);
  facts.only_attributes =
      named && facts.kind == TypeKind::kPlain && of_class_ != nullptr && HasOnlyAttributes(api, type, of_class_);
  return facts;
}

const TypeFacts& ObjectTypes::Of(uint64_t type, const PythonApi& api, const ProcessMemory& memory) {
  // What a container refers to is mostly of one type.
  if (recent_ != nullptr && recent_->type == type) return *recent_;
  const TypeFacts* known = facts_.Find(type);
  if (known == nullptr) {
    without_memory_ = Learn(type, api, memory);
    TypeFacts* facts = facts_.Insert(type);
    known = facts == nullptr ? &without_memory_ : &(*facts = without_memory_);
  }
  return *(recent_ = known);
}

bool ObjectTypes::NoteReached(const TypeFacts& type) {
  if (type.reached) return false;
  if (TypeFacts* facts = facts_.Find(type.type)) facts->reached = true;
  return true;
}

void ObjectTypes::NoteSearched(uint64_t type, bool found) {
  TypeFacts* facts = type == 0 ? nullptr : facts_.Find(type);
  if (facts == nullptr) return;
  if (found) facts->searched = UINT8_MAX;
  if (facts->searched < kEnoughSearched) ++facts->searched;
}

bool ObjectTypes::IsBarren(uint64_t type) {
  const TypeFacts* facts = type == 0 ? nullptr : facts_.Find(type);
  return facts != nullptr && facts->searched == kEnoughSearched;
}

// It is the dict that the object has besides that of its attributes.
uint64_t ResultsOfCache(uint64_t object, const TypeFacts& type, const PythonApi& api) {
  if (std::strcmp(NameOf(type.type), "functools._lru_cache_wrapper") != 0) return 0;
  const uint64_t attributes = AttributeDict(object, type, api);
  uint64_t found = 0;
  EachReferred(object, type, [&](uint64_t member) {
    if (TypeOf(member) == api.dict && member != attributes) found = member;
  });
  return found;
}

// PyArrayObject_fields and PyArray_Descr of NumPy's ndarraytypes.h, the same in 1.x and 2.x as far as they are used.
ArrayItems ItemsOfArray(uint64_t array, const ProcessMemory& memory) {
  constexpr uint64_t kData = 16, kDimensions = 24, kSizes = 32, kType = 56, kFlags = 64;
  constexpr uint64_t kKindOfType = 24, kNumberOfType = 28;
  constexpr int kObjects = 17, kMostDimensions = 64;
  constexpr uint64_t kMostItems = uint64_t{1} << 30;
  const uint64_t type = Load(array + kType), sizes = Load(array + kSizes), first = Load(array + kData);
  const int dimensions = Load<int32_t>(array + kDimensions);
  if (dimensions < 1 || dimensions > kMostDimensions || !memory.IsHeap(sizes)) return {};
  if (type % 8 != 0 || !(memory.IsHeap(type) || memory.IsFile(type))) return {};
  if (Load<char>(type + kKindOfType) != 'O' || Load<int32_t>(type + kNumberOfType) != kObjects) return {};
  if ((Load<int32_t>(array + kFlags) & 3) == 0) return {};  // not one after the other
  uint64_t count = 1;
  for (int i = 0; i < dimensions; ++i) {
    const uint64_t size = Load(sizes + 8 * static_cast<uint64_t>(i));
    if (size == 0 || size > kMostItems / count) return {};
    count *= size;
  }
  if (!memory.IsHeap(first) || !memory.IsHeap(first + 8 * (count - 1))) return {};
  return {first, count};
}

uint64_t EntriesOf(uint64_t object, const TypeFacts& type, const PythonApi& api) {
  switch (type.kind) {
    case TypeKind::kDict:
      return Load(object + kDictUsed);
    case TypeKind::kList:
    case TypeKind::kTuple:
      return Load(object + kVarSize);
    case TypeKind::kContainer: {
      const char* name = NameOf(type.type);
      if (std::strcmp(name, "collections.deque") == 0) return Load(object + kVarSize);
      if (std::strcmp(name, "set") == 0 || std::strcmp(name, "frozenset") == 0) return Load(object + kSetUsed);
      const uint64_t results = ResultsOfCache(object, type, api);
      return results == 0 ? 0 : Load(results + kDictUsed);
    }
    default:
      return 0;
  }
}

uint64_t AttributeDict(uint64_t object, const TypeFacts& type, const PythonApi& api) {
  if ((type.flags & kHasManagedDict) != 0) {
    const uint64_t dict = Load(object - 24);
    return api.minor == 12 && dict % 2 != 0 ? 0 : dict;
  }
  if (type.dict_offset >= 0) return type.dict_offset == 0 ? 0 : Load(object + static_cast<uint64_t>(type.dict_offset));
  // Behind the items of a tuple or an int, counted from the end.
  constexpr uint64_t kMostItems = uint64_t{1} << 32;
  const auto size = Load<int64_t>(object + kVarSize);
  uint64_t items = static_cast<uint64_t>(size < 0 ? -size : size);
  // Since 3.12 the word of an int has other bits, too.
  if (api.minor >= 12 && (type.flags & kIsIntType) != 0) items = Load(object + kVarSize) >> 3;
  if (items > kMostItems || type.item_size > kMostItems / 8) return 0;
  const uint64_t end = (type.basic_size + items * type.item_size + 7) & ~uint64_t{7};
  return Load(object + end - static_cast<uint64_t>(-type.dict_offset));
}

const uint64_t* InlineAttributes(uint64_t object, const TypeFacts& type, const PythonApi& api) {
  if (type.inline_names == 0 || AttributeDict(object, type, api) != 0) return nullptr;
  uint64_t values;
  if (api.minor == 11) {
    values = Load(object - 32);
  } else if (api.minor == 12) {
    values = Load(object - 24);
    values = values % 2 != 0 ? values + 1 : 0;
  } else {
    values = object + type.basic_size;
    if (Load<uint8_t>(values + 3) == 0) return nullptr;  // not valid
    values += 8;
  }
  return reinterpret_cast<const uint64_t*>(values);
}

uint64_t AttributeOf(uint64_t object, const char* name, const TypeFacts& type, const PythonApi& api) {
  if (const uint64_t dict = AttributeDict(object, type, api); dict != 0 && dict % 8 == 0) {
    return ItemNamed(api, dict, name);
  }
  const uint64_t* values = InlineAttributes(object, type, api);
  for (uint32_t i = 0; values != nullptr && i < type.inline_names; ++i) {
    if (values[i] != 0 && IsTextOf(api, Load(type.inline_keys + 16 * i), name)) return values[i];
  }
  return 0;
}

const char* MemberName(uint64_t object, uint64_t value) {
  const auto look_in = [&](uint64_t member, uint64_t count) -> const char* {
    for (uint64_t i = 0; i < count; ++i, member += kMemberBytes) {
      const char* name = Load<const char*>(member + kMemberName);
      if (name == nullptr) return nullptr;
      const auto offset = Load<int64_t>(member + kMemberOffset);
      if (offset >= 16 && Load(object + static_cast<uint64_t>(offset)) == value) return name;
    }
    return nullptr;
  };
  constexpr uint64_t kMostMembers = 256;
  int depth = 0;
  for (uint64_t type = TypeOf(object); type != 0 && depth < kMaxBases; type = Load(type + kTypeBase), ++depth) {
    // Those of __slots__ are behind the type.
    const bool heap = (FlagsOf(type) & kIsHeapType) != 0;
    const uint64_t slots = heap ? Load(type + kVarSize) : 0;
    if (slots > 0 && slots < kMostMembers) {
      if (const char* name = look_in(type + Load(TypeOf(type) + kTypeBasicSize), slots)) return name;
    }
    const uint64_t members = heap ? 0 : Load(type + kTypeMembers);
    if (members == 0) continue;
    if (const char* name = look_in(members, kMostMembers)) return name;
  }
  return nullptr;
}

}  // namespace vramtrack::holders
