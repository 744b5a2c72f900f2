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

void ObjectWalk::ReachModules() {
  const uint64_t modules = api_->modules();
  if (modules == 0) return;
  current_ = 0;
  stage_ = kOwn;
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
  current_ = 0;
  stage_ = kOwn;
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

void ObjectWalk::ReachHandledException() {
  uint64_t type = 0, value = 0, traceback = 0;
  api_->handled_exception(&type, &value, &traceback);
  current_ = 0;
  stage_ = kOwn;
  if (value != 0 && types_.Of(TypeOf(value), *api_, memory_).kind == TypeKind::kException) {
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

}  // namespace vramtrack::holders
