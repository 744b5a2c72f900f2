// SPDX-License-Identifier: Apache-2.0
//
// What no name reaches. The objects that the interpreter's collector tracks and that were not reached are either kept
// from outside (by C or C++ code, or by a value that the interpreter is computing with), or they are garbage in
// reference cycles that waits for the collector. As the collector does, references between them are counted: an object
// with more than these is kept from outside.
#include "interpose/holders/object_walk.h"

#include "interpose/base/clock.h"

namespace vramtrack::holders {
namespace {

constexpr uint64_t kGcHeaderBytes = 16;
constexpr size_t kGenerations = 3, kGenerationBytes = 24;
// Behind the generations and a pointer: what gc.freeze() has set aside (_gc_runtime_state, pycore_gc.h, 3.8 to 3.11).
constexpr size_t kPermanentBytes = kGenerations * kGenerationBytes + 8;
constexpr uint64_t kGcFlags = 3;

}  // namespace

void ObjectWalk::AddUnreached() {
  constexpr size_t kAhead = 16;
  const size_t count = tracked_.size();
  if (!unreached_.Reserve(count)) return;
  for (size_t i = 0; i < count; ++i) {
    if (i + kAhead < count) {
      reached_.PrefetchSlot(tracked_[i + kAhead]);
      __builtin_prefetch(reinterpret_cast<const void*>(tracked_[i + kAhead]));
    }
    const TypeKind kind = FactsOf(tracked_[i]).kind;
    if (kind == TypeKind::kSkip || kind == TypeKind::kModule) continue;
    const uint32_t entry = reached_.Add(tracked_[i], kNotReached);
    if (entry == 0) {
      if (reached_.full() || reached_.no_memory()) return;
      continue;
    }
    reached_[entry].flags = kUnreached;
    unreached_.Add(entry);
    if (OutOfTime()) return;
  }
}

bool ObjectWalk::NoteTracked(GrowingArray<uint64_t>* to, uint64_t object) {
  constexpr size_t kMost = ReachedObjects::kMaxEntries / 2;
  listed_ = noted_ >= kMost   ? schema::HOLDERS_TOO_MANY_OBJECTS
            : OutOfTime()     ? schema::HOLDERS_OUT_OF_TIME
            : !to->Reserve(1) ? schema::HOLDERS_NO_MEMORY
                              : schema::HOLDERS_COMPLETE;
  if (listed_ != schema::HOLDERS_COMPLETE) return false;
  ++noted_;
  to->Add(object);
  return true;
}

int ObjectWalk::OnTracked(uint64_t object, void* walk) {
  auto* self = static_cast<ObjectWalk*>(walk);
  return self->NoteTracked(&self->tracked_, object) ? 1 : 0;
}

// A list of the collector's, from both of its ends: each element has to come from memory before the next one is known,
// and so two are on their way at a time. Every element must point back: this is what shows that it is such a list.
void ObjectWalk::ListGeneration(uint64_t head, GrowingArray<uint64_t>* from_end) {
  const auto next = [](uint64_t header) { return Load(header) & ~kGcFlags; };
  const auto previous = [](uint64_t header) { return Load(header + 8) & ~kGcFlags; };
  const auto is_memory = [this](uint64_t header) { return memory_.IsHeap(header) || memory_.IsFile(header); };
  uint64_t first = next(head), before = head, last = previous(head), after = head;
  while (first != head && first != after) {
    if (!is_memory(first) || previous(first) != before || !NoteTracked(&tracked_, first + kGcHeaderBytes)) return;
    if (first == last) return;
    if (!is_memory(last) || next(last) != after || !NoteTracked(from_end, last + kGcHeaderBytes)) return;
    before = first;
    first = next(first);
    after = last;
    last = previous(last);
  }
}

void ObjectWalk::CountReference(uint64_t object) {
  const uint32_t entry = reached_.Find(object);
  if (entry == 0 || (reached_[entry].flags & kUnreached) == 0) return;
  if (reached_[entry].references != UINT16_MAX) ++reached_[entry].references;
}

void ObjectWalk::ListTracked(uint64_t most_ns) {
  const uint64_t end_ns = end_ns_;
  end_ns_ = ThreadCpuNs() + most_ns;
  if (api_->visit_tracked != nullptr) {
    api_->visit_tracked(OnTracked, this);
  } else if (api_->gc_generations != 0) {
    GrowingArray<uint64_t> from_end = {};
    for (size_t i = 0; i <= kGenerations && listed_ == schema::HOLDERS_COMPLETE; ++i) {
      ListGeneration(api_->gc_generations + (i < kGenerations ? i * kGenerationBytes : kPermanentBytes), &from_end);
      if (!tracked_.Reserve(from_end.size())) break;
      for (size_t k = from_end.size(); k-- > 0;) tracked_.Add(from_end[k]);
      from_end.Clear();
    }
    from_end.Free();
  }
  AddUnreached();
  tracked_.Free();
  if (out_of_time_) listed_ = schema::HOLDERS_OUT_OF_TIME;
  out_of_time_ = false;
  end_ns_ = end_ns;
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
    EachReferred(object, FactsOf(object), [this](uint64_t member) { CountReference(member); });
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
