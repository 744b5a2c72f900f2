// SPDX-License-Identifier: Apache-2.0
//
// What a walk does with objects of a Python type. Decided once for each type.
#ifndef INTERPOSE_HOLDERS_OBJECT_TYPES_H_
#define INTERPOSE_HOLDERS_OBJECT_TYPES_H_

#include <cstddef>
#include <cstdint>

#include "interpose/base/compact_table.h"
#include "interpose/holders/process_memory.h"
#include "interpose/holders/python_objects.h"

namespace vramtrack::holders {

enum class TypeKind : uint8_t {
  kSkip,  // holds nothing, or nothing alive: numbers, text, code, weak references
  kPlain,
  kDict,
  kList,
  kTuple,
  kContainer,  // its members are entries: sets, deques, caches
  kModule,
  kFunction,
  kMethod,
  kCell,
  kFrame,
  kTraceback,
  kException,
  kType,
  kGenerator,
  kTensor,
  kStorage,        // torch.UntypedStorage and others
  kAutogradNode,   // of a torch.autograd.Function, or a grad_fn
  kCppHolder,      // an object that pybind11 made
  kContext,        // a contextvars.Context, or a node of the tree in it
  kWeakReference,  // keeps its callback
  kObjectArray,    // a NumPy array; only one of objects holds any
  kThreadLocal,    // a threading.local
};

using Traverse = int (*)(uint64_t object, int (*visit)(uint64_t, void*), void* argument);

struct TypeFacts {
  uint64_t type;
  uint64_t flags;
  Traverse traverse;  // null if it has none
  int64_t dict_offset;
  uint64_t basic_size, item_size;
  TypeKind kind;
  bool is_module, is_optimizer;  // of torch.nn, torch.optim
  bool only_attributes;          // instances refer to their attributes and their type, and to nothing else
  bool reached;                  // see NoteReached
  uint8_t searched;              // instances without a tensor, UINT8_MAX once one had any; see IsBarren
  uint32_t inline_names;         // number of attributes that instances may keep without a dict
  uint64_t inline_keys;          // the names: every 16 bytes a str
};

// Calls `visit(member)` for each object that `object` refers to, as the interpreter's collector knows them.
template <typename Visit>
void EachReferred(uint64_t object, const TypeFacts& type, Visit visit) {
  if (type.traverse == nullptr) return;
  type.traverse(
      object,
      [](uint64_t member, void* argument) {
        (*static_cast<Visit*>(argument))(member);
        return 0;
      },
      &visit);
}

// Zero-initialised memory is an empty set. Not thread-safe.
class ObjectTypes {
 public:
  // Returns the facts of a type. The reference is valid until the next call.
  const TypeFacts& Of(uint64_t type, const PythonApi& api, const ProcessMemory& memory);

  // Learns from any class that is written in Python what such classes have in common. Without it, no type is known to
  // have `only_attributes`.
  void LearnClass(uint64_t type);

  // Notes that a type itself is reached. Returns whether it is the first time, or true for a type that is not in the
  // set.
  bool NoteReached(const TypeFacts& type);

  // Of types of pybind11, whose instances are searched for tensors: notes the result for an instance; returns whether
  // none of several instances had any, so that the others need not be searched.
  void NoteSearched(uint64_t type, bool found);
  bool IsBarren(uint64_t type);

  void Free() { facts_.Free(); }

 private:
  static constexpr uint8_t kEnoughSearched = 32;
  TypeFacts Learn(uint64_t type, const PythonApi& api, const ProcessMemory& memory) const;

  Traverse of_class_;  // visits what an instance of a class in Python refers to; null if it is not known
  const TypeFacts* recent_;
  TypeFacts without_memory_;       // for a type that the table has no memory for
  CompactTable<TypeFacts> facts_;  // by type
};

// Returns the number of entries of a container, 0 for other objects.
uint64_t EntriesOf(uint64_t object, const TypeFacts& type, const PythonApi& api);

// The objects in a NumPy array: `count` addresses one after the other, 0 for an object that is not there. An array of
// anything else, and a view that leaves some out, has none.
struct ArrayItems {
  uint64_t first, count;
};
ArrayItems ItemsOfArray(uint64_t array, const ProcessMemory& memory);

// Returns the dict with the results of a functools.lru_cache, 0 for other objects.
uint64_t ResultsOfCache(uint64_t object, const TypeFacts& type, const PythonApi& api);

// Returns the dict with an object's attributes, 0 if there is none.
uint64_t AttributeDict(uint64_t object, const TypeFacts& type, const PythonApi& api);
// Returns the attributes of an object that has no dict for them, in the order of type.inline_keys; null if it has one.
const uint64_t* InlineAttributes(uint64_t object, const TypeFacts& type, const PythonApi& api);

// Returns the object's attribute with an ASCII name, 0 if it has none.
uint64_t AttributeOf(uint64_t object, const char* name, const TypeFacts& type, const PythonApi& api);

// Returns the zero-terminated name of the member of `object` that is `value`: of a __slots__ entry, or of a member of
// a type in C. Null if it has none.
const char* MemberName(uint64_t object, uint64_t value);

}  // namespace vramtrack::holders

#endif  // INTERPOSE_HOLDERS_OBJECT_TYPES_H_
