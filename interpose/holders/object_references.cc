// SPDX-License-Identifier: Apache-2.0
//
// From an object to what it refers to: which of several ways to an object is its path, and what a tensor is used for.
#include "interpose/holders/object_walk.h"

namespace vramtrack::holders {
namespace {

// Whether it is a step in the tree of a torch.nn.Module.
bool IsOfModule(Step step, uint16_t flags) {
  return step.step == schema::HOLDER_MODULE_ATTRIBUTE || (flags & kModuleAttributes) != 0;
}

}  // namespace

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
  if (types_.Of(TypeOf(object), *api_, memory_).kind != TypeKind::kTensor) return;
  NoteUse(Load(object + 8 * impl_word_), use);
  if ((reached_[found].flags & kExpanded) != 0) NoteUseOfWrapped(object, use);
}

// A tensor without memory of its own, such as a DTensor, has others in its attributes.
void ObjectWalk::NoteUseOfWrapped(uint64_t object, uint16_t use) {
  TensorFacts facts;
  const TypeFacts type = types_.Of(TypeOf(object), *api_, memory_);
  if (type.traverse == nullptr || (ReadTensor(Load(object + 8 * impl_word_), &facts) && facts.data != 0)) return;
  struct Noting {
    ObjectWalk* walk;
    uint16_t use;
  } noting = {this, use};
  type.traverse(
      object,
      [](uint64_t member, void* argument) {
        const auto* noting = static_cast<Noting*>(argument);
        ObjectWalk* walk = noting->walk;
        const TypeKind kind = walk->types_.Of(TypeOf(member), *walk->api_, walk->memory_).kind;
        if (kind == TypeKind::kTensor) walk->NoteUse(member, noting->use);
        return 0;
      },
      &noting);
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
  const TypeFacts& type = types_.Of(TypeOf(reference->object), *api_, memory_);
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

int ObjectWalk::OnReferred(uint64_t object, void* walk) {
  auto* self = static_cast<ObjectWalk*>(walk);
  if (object != self->type_skipped_) self->Reach(object, self->step_);
  return 0;
}

void ObjectWalk::ReachReferred(uint64_t object, const TypeFacts& type, Step step, VisitObject visit) {
  if (type.traverse == nullptr) return;
  step_ = step;
  type_skipped_ = type.type;
  const uint64_t of = type.type;
  // Classes are reached once. From a later stage it is no other way to them.
  const bool type_is_new = types_.NoteReached(type);
  if (!type.only_attributes) type.traverse(object, visit, this);
  if (type_is_new) Reach(of, kMember, 0, kLeftover);
}

}  // namespace vramtrack::holders
