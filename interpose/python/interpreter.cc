// SPDX-License-Identifier: Apache-2.0
#include "interpose/python/interpreter.h"

#include <stdio.h>

#include <cstring>

#include "interpose/python/frame_walk.h"

namespace vramtrack {
namespace {

constexpr char kDebugCookie[8] = {'x', 'd', 'e', 'b', 'u', 'g', 'p', 'y'};

template <typename Function>
Function FindAs(const LoadedObject& object, const char* name) {
  return reinterpret_cast<Function>(object.Find(name));
}

// From 3.13 on.
bool HasDebugOffsets(const LoadedObject& object, const void* runtime) {
  return runtime != nullptr && object.SizeOf("_PyRuntime") >= kDebugOffsetsBytes &&
         std::memcmp(runtime, kDebugCookie, sizeof kDebugCookie) == 0;
}

// Only builds for the interpreter's own developers have these: they count references, and may link all objects.
bool IsDebugBuild(const LoadedObject& object) {
  static constexpr const char* kNames[] = {"_Py_RefTotal", "_Py_NegativeRefcount", "_Py_AddToAllObjects"};
  for (const char* name : kNames) {
    if (object.Find(name) != nullptr || object.FindVariable(name) != nullptr) return true;
  }
  return false;
}

}  // namespace

namespace {

// Where _Py_DebugOffsets has what is needed, in units of 8 bytes.
struct DebugOffsets {
  uint32_t minor;
  uint16_t current_frame;
  uint16_t previous, executable, instr_ptr, owner;
  uint16_t filename, name, qualname, linetable, firstlineno, code_adaptive;
};
constexpr uint16_t kVersion = 1, kFreeThreaded = 2;
constexpr DebugOffsets kDebugOffsets[] = {
    {13, 23, 29, 30, 31, 33, 35, 36, 37, 38, 39, 43},
    {14, 26, 32, 33, 34, 36, 40, 41, 42, 43, 44, 48},
};
static_assert(8 * 49 <= kDebugOffsetsBytes, "the last one is read");

}  // namespace

const FrameOffsets* OffsetsOfVersion(uint32_t minor) {
  for (const FrameOffsets& offsets : kKnownOffsets) {
    if (offsets.minor == minor) return &offsets;
  }
  return nullptr;
}

namespace {

uint64_t OffsetAt(const void* debug_offsets, uint16_t index) {
  return Load(reinterpret_cast<uint64_t>(debug_offsets) + 8 * uint64_t{index});
}

}  // namespace

bool IsFreeThreaded(const void* debug_offsets) { return OffsetAt(debug_offsets, kFreeThreaded) != 0; }

bool OffsetsFromInterpreter(const void* debug_offsets, FrameOffsets* offsets) {
  const auto at = [debug_offsets](uint16_t index) { return OffsetAt(debug_offsets, index); };
  if (IsFreeThreaded(debug_offsets) || at(kVersion) >> 24 != 3) return false;
  for (const DebugOffsets& o : kDebugOffsets) {
    if (o.minor != (at(kVersion) >> 16 & 0xff)) continue;
    const FrameOffsets* known = OffsetsOfVersion(o.minor);
    if (known == nullptr) return false;
    *offsets = *known;
    bool good = true;
    const auto get = [&](uint16_t index) {
      good = good && at(index) < 4096;
      return static_cast<uint16_t>(at(index));
    };
    offsets->thread_frame = get(o.current_frame);
    offsets->frame_previous = get(o.previous);
    offsets->frame_code = get(o.executable);
    offsets->frame_position = get(o.instr_ptr);
    offsets->frame_owner = get(o.owner);
    offsets->code_file = get(o.filename);
    offsets->code_name = get(o.name);
    offsets->code_qualified_name = get(o.qualname);
    offsets->code_line_table = get(o.linetable);
    offsets->code_first_line = get(o.firstlineno);
    offsets->code_instructions = get(o.code_adaptive);
    // Not in the list, but always the last but one field before.
    offsets->code_first_traceable = static_cast<uint16_t>(offsets->code_instructions - 16);
    return good;
  }
  return false;
}

// As PY_VERSION_HEX; 0 where it is unknown.
uint32_t Interpreter::VersionOf(const LoadedObject& object, const void* runtime) const {
  if (HasDebugOffsets(object, runtime)) {
    return Load<uint32_t>(reinterpret_cast<uint64_t>(runtime) + 8);
  }
  if (const void* version = object.FindVariable("Py_Version")) {  // from 3.11 on
    return Load<uint32_t>(reinterpret_cast<uint64_t>(version));
  }
  const auto get_version = FindAs<const char* (*)()>(object, "Py_GetVersion");
  unsigned major = 0, minor = 0;
  if (get_version == nullptr || sscanf(get_version(), "%u.%u", &major, &minor) != 2) return 0;
  return major << 24 | minor << 16;
}

bool Interpreter::ReadOffsets(const LoadedObject& object, uint32_t version, const void* runtime) {
  if (version >> 24 != 3 || IsDebugBuild(object)) return false;
  const uint32_t minor = version >> 16 & 0xff;
  if (minor >= 13) return runtime != nullptr && OffsetsFromInterpreter(runtime, &offsets_);
  const FrameOffsets* known = OffsetsOfVersion(minor);
  if (known == nullptr) return false;
  offsets_ = *known;
  return true;
}

Interpreter::Found Interpreter::LookIn(const LoadedObject& object, const LoadedObject& program) {
  const auto variable = [&](const char* name) {
    const void* copy = program.FindVariable(name);
    return copy != nullptr ? copy : object.FindVariable(name);
  };
  code_type_ = variable("PyCode_Type");
  thread_state_ = FindAs<void* (*)()>(object, "PyGILState_GetThisThreadState");
  if (code_type_ == nullptr || thread_state_ == nullptr) return Found::kNone;
  base_ = object.base();
  text_type_ = variable("PyUnicode_Type");
  bytes_type_ = variable("PyBytes_Type");
  is_finalizing_ = FindAs<int (*)()>(object, "Py_IsFinalizing");  // from 3.13 on
  if (is_finalizing_ == nullptr) is_finalizing_ = FindAs<int (*)()>(object, "_Py_IsFinalizing");
  const void* runtime = object.FindVariable("_PyRuntime");
  const uint32_t version = VersionOf(object, runtime);
  const char* build = HasDebugOffsets(object, runtime) && IsFreeThreaded(runtime) ? ", free-threaded"
                      : IsDebugBuild(object)                                      ? ", debug build"
                                                                                  : "";
  snprintf(described_, sizeof described_, "Python %u.%u.%u%s (%.80s)", version >> 24 & 0xff, version >> 16 & 0xff,
           version >> 8 & 0xff, build, *object.name() != '\0' ? object.name() : "the program");
  if (text_type_ == nullptr || bytes_type_ == nullptr || is_finalizing_ == nullptr) return Found::kUnknown;
  if (!ReadOffsets(object, version, runtime)) return Found::kUnknown;
  layout_ = KnownLayout(offsets_);
  // Without it, native stacks are walked whole.
  const auto evaluation = reinterpret_cast<uint64_t>(object.Find("_PyEval_EvalFrameDefault"));
  evaluation_ = {evaluation, evaluation + (evaluation == 0 ? 0 : object.SizeOf("_PyEval_EvalFrameDefault"))};
  return Found::kUsable;
}

}  // namespace vramtrack
