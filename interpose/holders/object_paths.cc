// SPDX-License-Identifier: Apache-2.0
//
// The paths of a walk: where they begin (modules, frames of all threads, and the exception that is being handled),
// which of several ways to an object is its path, and what a tensor is used for.
#include <initializer_list>

#include "interpose/holders/object_walk.h"
#include "interpose/python/frame_walk.h"

namespace vramtrack::holders {
namespace {

// Whether it is a step in the tree of a torch.nn.Module.
bool IsOfModule(Step step, uint16_t flags) {
  return step.step == schema::HOLDER_MODULE_ATTRIBUTE || (flags & kModuleAttributes) != 0;
}

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
  if (module == 0 || FactsOf(module).kind != TypeKind::kModule) return;
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
      if (!IsText(name) || FactsOf(module).kind != TypeKind::kModule) continue;
      const bool is_main = IsTextOf(*api_, name, "__main__");
      if (is_main != own) continue;
      const uint64_t dict = Load(module + kModuleDict);
      if (dict == 0) continue;
      const uint64_t file = ItemNamed(*api_, dict, "__file__");
      const bool installed = !is_main && (file == 0 || !IsText(file) || IsInstalled(*api_, file));
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
      ReachFrame(frame, o.chain == FrameChain::kObjects ? ObjectKind::kPython : ObjectKind::kFrame, frame);
    }
  }
}

void ObjectWalk::ReachFrame(uint64_t address, ObjectKind kind, uint64_t frame) {
  const uint64_t code = frame == 0 ? 0 : CodeOfFrame(frame);
  if (code == 0 || TypeOf(code) != api_->code) return;
  const bool installed = IsInstalled(*api_, Load(code + api_->interpreter->offsets().code_file));
  ReachAt(address, kind, {schema::HOLDER_FRAME, NameKind::kCode, code}, 0, installed ? kInstalled : kOwn);
}

// The frames of a traceback, as if they still ran: the program failed there.
void ObjectWalk::ReachFailedFrames(uint64_t traceback) {
  for (size_t i = 0; traceback != 0 && TypeOf(traceback) == api_->traceback && i < kMostFrames; ++i) {
    const uint64_t object = Load(traceback + kTracebackFrame);
    ReachFrame(object, ObjectKind::kPython, FrameOf(object));
    traceback = Load(traceback + kTracebackNext);
  }
}

void ObjectWalk::ReachHandledException() {
  uint64_t type = 0, value = 0, traceback = 0;
  api_->handled_exception(&type, &value, &traceback);
  if (value != 0 && FactsOf(value).kind == TypeKind::kException) {
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
  const uint64_t dict = module != 0 && FactsOf(module).kind == TypeKind::kModule ? Load(module + kModuleDict) : 0;
  if (dict != 0) ReachFailedFrames(api_->dict_get(dict, "last_traceback"));
}

void ObjectWalk::ReachAt(uint64_t address, ObjectKind kind, Step step, uint16_t flags, uint8_t stage) {
  if (stage < stage_) stage = stage_;
  // The tree of a module comes first, so that a parameter is called net.layer.weight although a loop has left a
  // variable for it, or a wrapper such as DistributedDataParallel has a list of all parameters.
  const bool of_module =
      IsOfModule(step, flags) || (kind == ObjectKind::kTensor && (flags & (kParameters | kBuffers)) != 0);
  // One that waits in a later stage is reached from here instead.
  uint32_t found = reached_.Add(address, stage);
  if (found == 0) {
    if ((flags & kUses) != 0) NoteUse(address, flags & kUses);
    found = of_module ? reached_.Find(address) : 0;
    if (found == 0 || (reached_[found].flags & kEarly) != 0) return;
  }
  Entry& entry = reached_[found];
  if ((entry.flags & kExpanded) != 0) return;
  // A module in sys.modules owns its variables. A function or a frame that refers to them does not change that.
  if (entry.step == schema::HOLDER_MODULE) return;
  const bool waits = (entry.flags & kUnreached) == 0;
  if (of_module) flags |= kEarly;
  Fill(&entry, kind, step, static_cast<uint16_t>(flags | (waits ? entry.flags & kUses : 0)), stage);
  reached_.Push(stage, found, of_module);
}

// What a tensor is used for, it is whatever name it was reached by.
void ObjectWalk::NoteUse(uint64_t object, uint16_t use) {
  const uint32_t found = reached_.Find(object);
  if (found == 0) return;
  Entry& entry = reached_[found];
  if ((entry.flags & kUnreached) != 0 || (entry.flags & use) == use) return;
  entry.flags |= use;
  if (entry.kind == ObjectKind::kTensor) {
    TensorFacts facts;
    if ((entry.flags & kExpanded) != 0 && ReadTensor(object, &facts)) NoteUseOfMemory(facts.data, use);
    return;
  }
  if (entry.kind != ObjectKind::kPython || impl_word_ == 0) return;
  if (FactsOf(object).kind != TypeKind::kTensor) return;
  NoteUse(Load(object + 8 * impl_word_), use);
  if ((reached_[found].flags & kExpanded) != 0) NoteUseOfWrapped(object, use);
}

// A tensor without memory of its own, such as a DTensor, has others in its attributes.
void ObjectWalk::NoteUseOfWrapped(uint64_t object, uint16_t use) {
  TensorFacts facts;
  const TypeFacts type = FactsOf(object);
  if (type.traverse == nullptr || (ReadTensor(Load(object + 8 * impl_word_), &facts) && facts.data != 0)) return;
  EachReferred(object, type, [&](uint64_t member) {
    if (FactsOf(member).kind == TypeKind::kTensor) NoteUse(member, use);
  });
}

void ObjectWalk::Fill(Entry* entry, ObjectKind kind, Step step, uint16_t flags, uint8_t stage) const {
  entry->parent = current_;
  entry->step = static_cast<uint8_t>(step.step);
  entry->name_kind = step.kind;
  entry->name = step.name;
  entry->kind = kind;
  entry->stage = stage;
  entry->flags = flags;
}

void ObjectWalk::Reach(uint64_t object, Step step, uint16_t flags, uint8_t stage) {
  if (object == 0) return;
  if (current_ != 0) flags |= reached_[current_].flags & kOptimizerState;
  if (pending_.full()) Follow(pending_.Take());
  pending_.Add({object, step, current_, flags, wrapped_uses_, stage, stage_, false, false, TypeKind::kSkip},
               IsOfModule(step, flags));
  if (PendingReference* waits = pending_.Waiting(PendingReferences::kUntilSlot)) {
    LookAtType(waits);
    if (waits->kind != TypeKind::kSkip) reached_.PrefetchSlot(waits->object);
  }
  const PendingReference* waits = pending_.Waiting(PendingReferences::kUntilEntry);
  if (waits != nullptr && waits->kind != TypeKind::kSkip) reached_.PrefetchEntry(waits->object);
}

void ObjectWalk::LookAtType(PendingReference* reference) {
  const TypeFacts& type = FactsOf(reference->object);
  reference->typed = true;
  reference->kind = type.kind;
  reference->is_optimizer = type.is_optimizer;
}

void ObjectWalk::Follow(PendingReference reference) {
  if (!reference.typed) LookAtType(&reference);
  if (reference.kind == TypeKind::kSkip) return;
  uint64_t object = reference.object;
  uint16_t flags = reference.flags;
  if (reference.kind == TypeKind::kModule) {
    object = Load(object + kModuleDict);
    if (object == 0) return;
    flags |= kAttributes;
  }
  const bool later = reference.is_optimizer && reference.stage < kOptimizers;
  const uint16_t of_tensor = reference.kind == TypeKind::kTensor ? reference.if_tensor : uint16_t{0};
  const uint32_t current = current_;
  const uint8_t stage = stage_;
  current_ = reference.parent;
  stage_ = reference.from_stage;
  ReachAt(object, ObjectKind::kPython, reference.step, static_cast<uint16_t>(flags | of_tensor),
          later ? uint8_t{kOptimizers} : reference.stage);
  current_ = current;
  stage_ = stage;
}

void ObjectWalk::FollowAll() {
  while (!pending_.empty()) Follow(pending_.Take());
}

void ObjectWalk::ReachReferred(uint64_t object, const TypeFacts& type, Step step) {
  ReachReferred(object, type, [&](uint64_t member) { Reach(member, step); });
}

}  // namespace vramtrack::holders
