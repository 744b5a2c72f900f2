// SPDX-License-Identifier: Apache-2.0
//
// Python objects as they lie in memory, and the few functions of the interpreter that a walk over them needs. None of
// these runs Python code, creates an object or changes a reference count. The offsets are from the headers of each
// version (CPython's object.h, frameobject.h, pycore_frame.h, pycore_dict.h).
#ifndef INTERPOSE_HOLDERS_PYTHON_OBJECTS_H_
#define INTERPOSE_HOLDERS_PYTHON_OBJECTS_H_

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "interpose/python/interpreter.h"

namespace vramtrack::holders {

// Offsets that are the same in 3.8 to 3.14, in bytes.
constexpr uint16_t kTypeName = 24, kTypeBasicSize = 32, kTypeItemSize = 40, kTypeFlags = 168, kTypeTraverse = 184,
                   kTypeMembers = 240, kTypeGetters = 248, kTypeBase = 256, kTypeDict = 264, kTypeDictOffset = 288,
                   kTypeMro = 344;
constexpr uint16_t kDictUsed = 16, kListItems = 24, kCellContents = 16, kModuleDict = 16, kTracebackNext = 16,
                   kTracebackFrame = 24, kSetUsed = 24, kContextVariableName = 16;
constexpr uint16_t kKeysIndexBytesLog = 9, kKeysCount = 24, kKeysIndices = 32;
constexpr uint16_t kMemberName = 0, kMemberOffset = 16, kMemberBytes = 40;
constexpr uint16_t kGetterName = 0, kGetterBytes = 40;

// Bits of a type's flags.
constexpr uint64_t kHasInlineValues = 1 << 2, kHasManagedDict = 1 << 4, kIsHeapType = 1 << 9, kHasGc = 1 << 14,
                   kIsIntType = 1 << 24, kIsListType = 1 << 25, kIsTupleType = 1 << 26, kIsTextType = 1 << 28,
                   kIsDictType = 1 << 29, kIsExceptionType = 1 << 30, kIsTypeType = uint64_t{1} << 31;

// Offsets that differ between versions, in bytes. 0 for what a version does not have.
struct ObjectOffsets {
  uint16_t tuple_items;
  uint16_t type_cached_keys;
  uint16_t function_closure, function_code, function_globals, function_builtins, function_defaults, function_name,
      function_qualified_name;
  uint16_t exception_traceback;
  uint16_t generator_frame;  // a frame object up to 3.10, later the frame itself
  uint16_t generator_state;
  // Up to 3.10: the number of local variables that are not cells, and the tuples of names.
  uint16_t code_locals, code_variables, code_cells, code_free;
  // Since 3.11: the number of all local variables, and one tuple of names.
  uint16_t code_all_locals, code_all_names;
  uint16_t frame_locals;    // the local variables
  uint16_t frame_object;    // of a frame object: its frame, since 3.11
  uint16_t gc_generations;  // in the interpreter's state, 3.9 to 3.11
};
// Returns the offsets of 3.`minor`, or null for an unknown version.
const ObjectOffsets* ObjectOffsetsOf(uint32_t minor);

// What the interpreter exports. Addresses of types and functions; valid as long as the interpreter is loaded.
struct PythonApi {
  const Interpreter* interpreter;
  const ObjectOffsets* offsets;
  uint32_t minor;
  uint64_t gc_generations;  // address of the heads of the collector's lists, up to 3.11; 0: not known

  int (*add_pending_call)(int (*function)(void*), void* argument);
  // In 3.8: whether pending calls are refused, which the interpreter tells by an exception. Otherwise null.
  const int* refuses_pending_calls;
  int (*dict_next)(uint64_t dict, intptr_t* position, uint64_t* key, uint64_t* value);
  uint64_t (*modules)();
  uint64_t (*main_interpreter)();
  uint64_t (*first_thread)(uint64_t interpreter);
  uint64_t (*next_thread)(uint64_t thread);
  void (*handled_exception)(uint64_t* type, uint64_t* value, uint64_t* traceback);  // new references
  void (*release)(uint64_t object);
  long long (*int_value)(uint64_t object, int* overflow);
  void (*visit_tracked)(int (*visit)(uint64_t object, void* argument), void* argument);  // since 3.12
  uint64_t (*dict_get)(uint64_t dict, const char* key);                                  // borrowed
  uint64_t (*get_attribute)(uint64_t object, const char* name);
  uint64_t (*new_function)(void* definition, uint64_t self, uint64_t module);
  uint64_t (*call)(uint64_t callable, uint64_t argument, uint64_t end);
  void (*clear_error)();
  void (*untrack)(uint64_t object);  // from the collector
  uint64_t (*build_value)(const char* format, ...);
  uint64_t none() const { return build_value(""); }  // a new reference to None

  uint64_t object, dict, list, tuple, module, function, cell, frame, traceback, generator, coroutine, async_generator,
      method, code, weak_reference, weak_proxy, weak_callable, builtin_function, context, context_variable;

  // Finds all of it. Returns false if something is missing or the version is unknown.
  bool Find(const Interpreter& interpreter);
};

inline uint64_t TypeOf(uint64_t object) { return Load(object + kObjectType); }
inline uint64_t FlagsOf(uint64_t type) { return Load(type + kTypeFlags); }
inline const char* NameOf(uint64_t type) { return Load<const char*>(type + kTypeName); }
inline bool IsText(uint64_t object) { return (FlagsOf(TypeOf(object)) & kIsTextType) != 0; }

// Returns whether the object is a str with these ASCII characters.
bool IsTextOf(const PythonApi& api, uint64_t object, const char* ascii);

// Returns the value of an item of a dict by its key, which is ASCII; 0 if there is none. Creates no object, unlike
// PythonApi::dict_get.
uint64_t ItemNamed(const PythonApi& api, uint64_t dict, const char* name);

// Returns whether a path of a source file is that of an installed package or of Python itself.
bool IsInstalledPath(const char* path, size_t size);

// Returns whether a type or one of its bases is the class `name` of the module `module`.
bool DerivesFrom(const PythonApi& api, uint64_t type, const char* name, const char* module);

}  // namespace vramtrack::holders

#endif  // INTERPOSE_HOLDERS_PYTHON_OBJECTS_H_
