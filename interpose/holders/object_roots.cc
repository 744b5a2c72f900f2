// SPDX-License-Identifier: Apache-2.0
//
// Where the paths of a walk begin: modules, frames of all threads, and the exception that is being handled.
#include <initializer_list>

#include "interpose/holders/object_walk.h"
#include "interpose/python/frame_walk.h"

namespace vramtrack::holders {
namespace {

constexpr size_t kMostFrames = 100000;
constexpr size_t kPathBytes = 512;

bool IsInstalled(const PythonApi& api, uint64_t path) {
  char text[kPathBytes];
  const size_t size = TextAsUtf8(api.interpreter->offsets(), path, text, sizeof text);
  return IsInstalledPath(text, size);
}

}  // namespace

// A class in Python that every interpreter has.
void ObjectWalk::LearnClass() {
  const uint64_t module = api_->dict_get(api_->modules(), "os");
  if (module == 0 || types_.Of(TypeOf(module), *api_, memory_).kind != TypeKind::kModule) return;
  const uint64_t dict = Load(module + kModuleDict);
  const uint64_t found = dict == 0 ? 0 : api_->dict_get(dict, "_Environ");
  if (found != 0 && (FlagsOf(TypeOf(found)) & kIsTypeType) != 0) types_.LearnClass(found);
}

void ObjectWalk::ReachModules() {
  const uint64_t modules = api_->modules();
  if (modules == 0) return;
  // The program's own module first: what another has as well is named by it.
  for (const bool own : {true, false}) {
    intptr_t position = 0;
    uint64_t name, module;
    while (api_->dict_next(modules, &position, &name, &module) != 0) {
      if (!IsText(name) || types_.Of(TypeOf(module), *api_, memory_).kind != TypeKind::kModule) continue;
      const bool is_main = IsTextOf(*api_, name, "__main__");
      if (is_main != own) continue;
      const uint64_t dict = Load(module + kModuleDict);
      if (dict == 0) continue;
      uint64_t file = 0;
      intptr_t at = 0;
      uint64_t key, value;
      while (file == 0 && api_->dict_next(dict, &at, &key, &value) != 0) {
        if (IsTextOf(*api_, key, "__file__") && IsText(value)) file = value;
      }
      const bool installed = !is_main && (file == 0 || IsInstalled(*api_, file));
      ReachAt(dict, ObjectKind::kPython, {schema::HOLDER_MODULE, NameKind::kText, name}, kAttributes,
              installed ? kInstalled : kOwn);
    }
  }
}

void ObjectWalk::ReachFrames() {
  const FrameOffsets& o = api_->interpreter->offsets();
  const uint64_t interpreter = api_->main_interpreter();
  for (uint64_t thread = api_->first_thread(interpreter); thread != 0; thread = api_->next_thread(thread)) {
    uint64_t frame = Load(thread + o.thread_frame);
    if (o.by_cframe && frame != 0) frame = Load(frame + o.cframe_frame);
    for (size_t i = 0; frame != 0 && i < kMostFrames; ++i, frame = Load(frame + o.frame_previous)) {
      if (o.chain == FrameChain::kShims && Load<uint8_t>(frame + o.frame_owner) > kOwnedByFrameObject) continue;
      const uint64_t code = CodeOfFrame(frame);
      if (code == 0 || TypeOf(code) != api_->code) continue;
      const bool installed = IsInstalled(*api_, Load(code + o.code_file));
      const ObjectKind kind = o.chain == FrameChain::kObjects ? ObjectKind::kPython : ObjectKind::kFrame;
      ReachAt(frame, kind, {schema::HOLDER_FRAME, NameKind::kCode, code}, 0, installed ? kInstalled : kOwn);
    }
  }
}

// The frames of a traceback, as if they still ran: the program failed there.
void ObjectWalk::ReachFailedFrames(uint64_t traceback) {
  const uint16_t code_file = api_->interpreter->offsets().code_file;
  for (size_t i = 0; traceback != 0 && TypeOf(traceback) == api_->traceback && i < kMostFrames; ++i) {
    const uint64_t object = Load(traceback + kTracebackFrame);
    const uint16_t field = api_->offsets->frame_object;
    const uint64_t frame = object != 0 && field != 0 ? Load(object + field) : object;
    const uint64_t code = frame != 0 ? CodeOfFrame(frame) : 0;
    if (code != 0 && TypeOf(code) == api_->code) {
      const bool installed = IsInstalled(*api_, Load(code + code_file));
      ReachAt(object, ObjectKind::kPython, {schema::HOLDER_FRAME, NameKind::kCode, code}, 0,
              installed ? kInstalled : kOwn);
    }
    traceback = Load(traceback + kTracebackNext);
  }
}

void ObjectWalk::ReachHandledException() {
  uint64_t type = 0, value = 0, traceback = 0;
  api_->handled_exception(&type, &value, &traceback);
  if (value != 0 && types_.Of(TypeOf(value), *api_, memory_).kind == TypeKind::kException) {
    if (failing_) {
      ReachFailedFrames(traceback != 0 ? traceback : Load(value + api_->offsets->exception_traceback));
    }
    const auto name = reinterpret_cast<uint64_t>(NameOf(TypeOf(value)));
    const Step step = {schema::HOLDER_EXCEPTION, NameKind::kCharacters, name};
    ReachAt(value, ObjectKind::kPython, step, 0, kOwn);
    if (traceback != 0) ReachAt(traceback, ObjectKind::kPython, step, 0, kOwn);
  }
  // The exception's owner keeps them.
  if (type != 0) api_->release(type);
  if (value != 0) api_->release(value);
  if (traceback != 0) api_->release(traceback);
}

// What ended the program is kept by the module sys.
void ObjectWalk::ReachUnhandledException() {
  const uint64_t module = api_->dict_get(api_->modules(), "sys");
  const uint64_t dict = module != 0 && types_.Of(TypeOf(module), *api_, memory_).kind == TypeKind::kModule
                            ? Load(module + kModuleDict)
                            : 0;
  if (dict != 0) ReachFailedFrames(api_->dict_get(dict, "last_traceback"));
}

}  // namespace vramtrack::holders
