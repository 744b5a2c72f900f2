// SPDX-License-Identifier: Apache-2.0
#include "interpose/holders/python_objects.h"

#include <initializer_list>

#include "interpose/loader/loaded_object.h"
#include "interpose/python/frame_walk.h"

namespace vramtrack::holders {
namespace {

constexpr ObjectOffsets UpTo310(uint32_t minor) {
  ObjectOffsets o = {};
  o.tuple_items = 24;
  o.type_cached_keys = minor == 9 ? 864 : 872;
  o.function_closure = minor == 10 ? 72 : 48;
  o.function_code = minor == 10 ? 48 : 16;
  o.function_globals = minor == 10 ? 16 : 24;
  o.function_builtins = minor == 10 ? 24 : 0;
  o.function_defaults = minor == 10 ? 56 : 32;
  o.function_name = minor == 10 ? 32 : 64;
  o.function_qualified_name = minor == 10 ? 40 : 104;
  o.exception_traceback = 32;
  o.generator_frame = 16;
  o.code_locals = 28;
  o.code_variables = 72;
  o.code_free = 80;
  o.code_cells = 88;
  o.frame_locals = minor == 10 ? 352 : 360;
  o.gc_generations = minor == 8 ? 0 : 616 + 24;
  return o;
}

constexpr ObjectOffsets Since311(uint32_t minor) {
  ObjectOffsets o = {};
  o.tuple_items = minor >= 14 ? 32 : 24;
  o.type_cached_keys = minor == 11 ? 872 : 880;
  o.function_closure = 72;
  o.function_code = 48;
  o.function_globals = 16;
  o.function_builtins = 24;
  o.function_defaults = 56;
  o.function_name = 32;
  o.function_qualified_name = 40;
  o.exception_traceback = 40;
  o.generator_frame = minor == 11 ? 80 : 72;
  o.generator_state = minor == 11 ? 75 : 67;
  o.code_all_locals = minor == 11 ? 76 : 72;
  o.code_all_names = 96;
  o.frame_locals = minor >= 14 ? 80 : 72;
  o.frame_object = 24;
  o.gc_generations = minor == 11 ? 648 + 24 : 0;
  return o;
}

constexpr ObjectOffsets kOffsets[] = {UpTo310(8),   UpTo310(9),   UpTo310(10), Since311(11),
                                      Since311(12), Since311(13), Since311(14)};
constexpr uint32_t kFirstMinor = 8;
constexpr uint64_t kMostBases = 256;

bool Contains(const char* text, size_t size, const char* part) {
  const size_t length = std::strlen(part);
  for (size_t i = 0; i + length <= size; ++i) {
    if (std::memcmp(text + i, part, length) == 0) return true;
  }
  return false;
}

}  // namespace

const ObjectOffsets* ObjectOffsetsOf(uint32_t minor) {
  if (minor < kFirstMinor || minor >= kFirstMinor + sizeof kOffsets / sizeof *kOffsets) return nullptr;
  return &kOffsets[minor - kFirstMinor];
}

bool PythonApi::Find(const Interpreter& found) {
  interpreter = &found;
  minor = found.offsets().minor;
  offsets = ObjectOffsetsOf(minor);
  LoadedObject object;
  if (offsets == nullptr || !FindLoadedObject(found.address(), &object)) return false;
  const LoadedObject program = Program();
  bool good = true;
  const auto function = [&](auto* to, const char* name, bool needed = true) {
    void* at = object.Find(name);
    good = good && (at != nullptr || !needed);
    std::memcpy(to, &at, sizeof at);
  };
  const auto variable = [&](uint64_t* to, const char* name) {
    const void* at = program.FindVariable(name);  // a program may have copies of a library's variables
    if (at == nullptr) at = object.FindVariable(name);
    good = good && at != nullptr;
    *to = reinterpret_cast<uint64_t>(at);
  };
  function(&add_pending_call, "Py_AddPendingCall");
  refuses_pending_calls = nullptr;
  gc_generations = 0;
  if (minor == 8) {
    // _PyRuntimeState.ceval.pending.finishing and .gc.generations
    constexpr size_t kFinishing = 600, kGenerations = 368;
    const auto* runtime = static_cast<const char*>(object.FindVariable("_PyRuntime"));
    good = runtime != nullptr;
    refuses_pending_calls = reinterpret_cast<const int*>(runtime + kFinishing);
    gc_generations = reinterpret_cast<uint64_t>(runtime) + kGenerations;
  }
  function(&dict_next, "PyDict_Next");
  function(&modules, "PyImport_GetModuleDict");
  function(&main_interpreter, "PyInterpreterState_Main");
  if (good && offsets->gc_generations != 0) gc_generations = main_interpreter() + offsets->gc_generations;
  function(&first_thread, "PyInterpreterState_ThreadHead");
  function(&next_thread, "PyThreadState_Next");
  function(&handled_exception, "PyErr_GetExcInfo");
  function(&release, "Py_DecRef");
  function(&int_value, "PyLong_AsLongLongAndOverflow");
  function(&visit_tracked, "PyUnstable_GC_VisitObjects", false);
  function(&dict_get, "PyDict_GetItemString");
  function(&get_attribute, "PyObject_GetAttrString");
  function(&new_function, "PyCFunction_NewEx");
  function(&call, "PyObject_CallFunctionObjArgs");
  function(&clear_error, "PyErr_Clear");
  function(&untrack, "PyObject_GC_UnTrack");
  function(&build_value, "Py_BuildValue");
  variable(&this->object, "PyBaseObject_Type");
  variable(&dict, "PyDict_Type");
  variable(&list, "PyList_Type");
  variable(&tuple, "PyTuple_Type");
  variable(&module, "PyModule_Type");
  variable(&this->function, "PyFunction_Type");
  variable(&cell, "PyCell_Type");
  variable(&frame, "PyFrame_Type");
  variable(&traceback, "PyTraceBack_Type");
  variable(&generator, "PyGen_Type");
  variable(&coroutine, "PyCoro_Type");
  variable(&async_generator, "PyAsyncGen_Type");
  variable(&method, "PyMethod_Type");
  variable(&code, "PyCode_Type");
  variable(&weak_reference, "_PyWeakref_RefType");
  variable(&weak_proxy, "_PyWeakref_ProxyType");
  variable(&weak_callable, "_PyWeakref_CallableProxyType");
  variable(&builtin_function, "PyCFunction_Type");
  variable(&context, "PyContext_Type");
  variable(&context_variable, "PyContextVar_Type");
  return good;
}

bool IsTextOf(const PythonApi& api, uint64_t object, const char* ascii) {
  const size_t length = std::strlen(ascii);
  if (!IsText(object) || Load(object + kTextLength) != length) return false;
  const auto state = Load<uint32_t>(object + kTextState);
  if (!IsCompactText(state) || TextUnit(state) != 1) return false;
  const uint64_t data = object + TextDataOffset(api.interpreter->offsets(), state);
  return std::memcmp(reinterpret_cast<const void*>(data), ascii, length) == 0;
}

uint64_t ItemNamed(const PythonApi& api, uint64_t dict, const char* name) {
  intptr_t position = 0;
  uint64_t key, value;
  while (api.dict_next(dict, &position, &key, &value) != 0) {
    if (IsTextOf(api, key, name)) return value;
  }
  return 0;
}

bool IsInstalledPath(const char* path, size_t size) {
  // As programs see themselves: a file in a folder of the program's own may be called anything else.
  for (const char* part : {"/site-packages/", "/dist-packages/", "/lib/python3", "<frozen "}) {
    if (Contains(path, size, part)) return true;
  }
  return false;
}

bool DerivesFrom(const PythonApi& api, uint64_t type, const char* name, const char* module) {
  // All bases, in the order in which Python looks attributes up: a class may have several.
  const uint64_t bases = Load(type + kTypeMro);
  if ((FlagsOf(type) & kIsHeapType) == 0 || bases == 0 || TypeOf(bases) != api.tuple) return false;
  const uint64_t count = Load(bases + kVarSize);
  for (uint64_t i = 0; i < count && i < kMostBases; ++i) {
    const uint64_t base = Load(bases + api.offsets->tuple_items + 8 * i);
    if ((FlagsOf(base) & kIsHeapType) == 0 || std::strcmp(NameOf(base), name) != 0) continue;
    const uint64_t dict = Load(base + kTypeDict);
    const uint64_t of = dict == 0 ? 0 : ItemNamed(api, dict, "__module__");
    if (of != 0 && IsTextOf(api, of, module)) return true;
  }
  return false;
}

}  // namespace vramtrack::holders
