// SPDX-License-Identifier: Apache-2.0
//
// What no name reaches. The objects that the interpreter's collector tracks and that were not reached are either kept
// from outside (by C or C++ code, or by a value that the interpreter is computing with), or they are garbage in
// reference cycles that waits for the collector. As the collector does, references between them are counted: an object
// with more than these is kept from outside.
#include "interpose/holders/object_walk.h"

namespace vramtrack::holders {
namespace {

constexpr uint64_t kGcHeaderBytes = 16;
constexpr size_t kGenerations = 3, kGenerationBytes = 24;
constexpr uint64_t kGcFlags = 3;

}  // namespace

// Adds some objects that the collector tracks, whose slots have been asked for.
bool ObjectWalk::AddUnreached() {
  const size_t count = tracked_count_;
  tracked_count_ = 0;
  for (size_t i = 0; i < count; ++i) {
    const TypeKind kind = types_.Of(TypeOf(tracked_[i]), *api_, memory_).kind;
    if (kind == TypeKind::kSkip || kind == TypeKind::kModule) continue;
    const uint32_t entry = reached_.Add(tracked_[i], kNotReached);
    if (entry == 0) {
      if (reached_.full() || reached_.no_memory()) return false;
      continue;
    }
    reached_[entry].flags = kUnreached;
    if (!unreached_.Reserve(1)) return false;
    unreached_.Add(entry);
    if (OutOfTime()) return false;
  }
  return true;
}

bool ObjectWalk::NoteTracked(uint64_t object) {
  reached_.PrefetchSlot(object);
  __builtin_prefetch(reinterpret_cast<const void*>(object));
  tracked_[tracked_count_++] = object;
  return tracked_count_ < kTrackedAtOnce || AddUnreached();
}

int ObjectWalk::OnTracked(uint64_t object, void* walk) {
  return static_cast<ObjectWalk*>(walk)->NoteTracked(object) ? 1 : 0;
}

void ObjectWalk::CountReference(uint64_t object) {
  const uint32_t entry = reached_.Find(object);
  if (entry == 0 || (reached_[entry].flags & kUnreached) == 0) return;
  if (reached_[entry].references != UINT16_MAX) ++reached_[entry].references;
}

int ObjectWalk::OnReference(uint64_t object, void* walk) {
  static_cast<ObjectWalk*>(walk)->CountReference(object);
  return 0;
}

void ObjectWalk::ListTracked() {
  if (api_->visit_tracked != nullptr) {
    api_->visit_tracked(OnTracked, this);
  } else if (api_->gc_generations != 0) {
    // The lists of the collector's generations.
    for (size_t i = 0; i < kGenerations; ++i) {
      const uint64_t head = api_->gc_generations + i * kGenerationBytes;
      uint64_t previous = head, header = Load(head);
      while (header != head) {
        // Every element must point back: this is what shows that it is such a list.
        if (!memory_.IsHeap(header) && !memory_.IsFile(header)) break;
        if ((Load(header + 8) & ~kGcFlags) != previous) break;
        if (!NoteTracked(header + kGcHeaderBytes)) break;
        previous = header;
        header = Load(header) & ~kGcFlags;
      }
    }
  }
  AddUnreached();
}

bool ObjectWalk::ReachTheRest() {
  if (out_of_time_ || reached_.full() || reached_.no_memory()) return false;
  // Most were reached meanwhile. Only what else they refer to may keep the others.
  size_t left = 0;
  for (size_t i = 0; i < unreached_.size(); ++i) {
    const uint32_t at = unreached_[i];
    const uint16_t flags = reached_[at].flags;
    if ((flags & kUnreached) != 0) unreached_[left++] = at;
    if ((flags & kWhole) != 0) continue;
    const uint64_t object = reached_[at].address;
    const TypeFacts& type = types_.Of(TypeOf(object), *api_, memory_);
    if (type.traverse != nullptr) type.traverse(object, OnReference, this);
    if (OutOfTime()) return false;
  }
  const auto reach = [&](bool outside, auto is_wanted) {
    for (size_t i = 0; i < left; ++i) {
      const Entry entry = reached_[unreached_[i]];
      if ((entry.flags & kUnreached) == 0) continue;
      const uint64_t of_type = TypeOf(entry.address);
      // Since 3.12 the upper half of the word has flags.
      const uint64_t count = api_->minor >= 12 ? Load<uint32_t>(entry.address) : Load(entry.address);
      if (outside && count <= entry.references) continue;
      if (!is_wanted(types_.Of(of_type, *api_, memory_).kind)) continue;
      current_ = 0;
      stage_ = outside ? kOutside : kGarbage;
      const schema::HolderStep step = outside ? schema::HOLDER_OUTSIDE : schema::HOLDER_GARBAGE;
      // A thread has a context. Paths begin at the variables in it.
      const bool has_names = outside && of_type == api_->context;
      ReachAt(entry.address, ObjectKind::kPython,
              has_names ? kSame : Step{step, NameKind::kCharacters, reinterpret_cast<uint64_t>(NameOf(of_type))}, 0,
              stage_);
      // What it holds is named by it, not by itself.
      if (!outside && !Expand()) return false;
    }
    return Expand();
  };
  // A cycle has the name of what is most telling in it: of an object of the program's, of an exception; of a tensor
  // only if there is nothing else.
  const auto any = [](TypeKind) { return true; };
  const auto instance = [](TypeKind kind) { return kind == TypeKind::kPlain; };
  const auto exception = [](TypeKind kind) { return kind == TypeKind::kException; };
  const auto no_tensor = [](TypeKind kind) { return kind != TypeKind::kTensor && kind != TypeKind::kStorage; };
  return reach(true, any) && reach(false, instance) && reach(false, exception) && reach(false, no_tensor) &&
         reach(false, any);
}

}  // namespace vramtrack::holders
