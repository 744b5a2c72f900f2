// SPDX-License-Identifier: Apache-2.0
#ifndef INTERPOSE_HOLDERS_OBJECT_WALK_H_
#define INTERPOSE_HOLDERS_OBJECT_WALK_H_

#include <cstddef>
#include <cstdint>

#include "interpose/base/growing_array.h"
#include "interpose/holders/cpp_objects.h"
#include "interpose/holders/object_types.h"
#include "interpose/holders/process_memory.h"
#include "interpose/holders/python_objects.h"
#include "interpose/holders/reached_objects.h"
#include "proto/schema_constants.h"

namespace vramtrack::holders {

// A container with more entries is one path for all of them.
constexpr uint64_t kFewEntries = 16;

// References between objects that a walk has met and not followed yet. Objects lie all over memory, and so does what is
// known of them: a walk that looks at each at once waits for memory most of its time. Here a reference waits until some
// others have come, while its object, then the set's slot and then the entry for it are on their way to the cache.
struct PendingReference {
  uint64_t object;
  Step step;
  uint32_t parent;     // entry of the object that refers
  uint16_t flags;      // of the entry
  uint16_t if_tensor;  // further flags if the object is a tensor
  uint8_t stage;
  uint8_t from_stage;  // of the object that refers
  bool typed;          // the next two are known
  bool is_optimizer;
  TypeKind kind;
};

// First in, first out. Zero-initialised memory is an empty queue. Not thread-safe.
class PendingReferences {
 public:
  static constexpr size_t kMost = 24, kUntilSlot = 8, kUntilEntry = 16;

  bool empty() const { return first_ == end_; }
  bool full() const { return end_ - first_ == kMost; }
  // Whether a reference in the tree of a torch.nn.Module waits: these do not wait for others.
  bool early() const { return early_; }

  // Adds a reference; call it only if not full(). The object must be alive.
  void Add(const PendingReference& reference, bool early) {
    At(end_++) = reference;
    early_ |= early;
    __builtin_prefetch(reinterpret_cast<const void*>(reference.object));
  }
  // Takes the first one; call it only if not empty().
  PendingReference Take() {
    const PendingReference taken = At(first_++);
    if (first_ == end_) early_ = false;
    return taken;
  }
  // The reference that was added `before` others; null if there is none.
  PendingReference* Waiting(size_t before) { return end_ - first_ > before ? &At(end_ - 1 - before) : nullptr; }

 private:
  static constexpr size_t kRoom = 32;
  static_assert(kMost <= kRoom);
  PendingReference& At(size_t i) { return references_[i % kRoom]; }

  PendingReference references_[kRoom];
  size_t first_, end_;
  bool early_;
};

// A walk over the objects of a Python interpreter, breadth first, from names that a programmer knows: the variables of
// modules and of running functions. It finds the tensors with memory on a device, and remembers for each object from
// where it was reached first.
//
// The caller holds the interpreter's lock from beginning to end, so no Python object changes. The walk runs no Python
// code, creates no object and keeps no reference. C++ objects may be changed by other threads meanwhile; they are read
// by the kernel (ProcessMemory).

// A block of device memory that a tensor's storage has.
struct HeldBlock {
  uint64_t address, bytes;
  uint32_t entry;        // of the tensor or storage
  uint64_t python_type;  // of the tensor's Python object, 0: it has none
  uint16_t uses;         // those of all tensors with this memory: Entry flags
  TensorFacts facts;
};

// Use each object for one walk. Needs zeroed memory, a few MiB. Not thread-safe.
class ObjectWalk {
 public:
  // Walks until everything is visited or this thread has used `most_ns` of processor time, and returns why it ended.
  // With `failing`, the program is out of memory or ends: functions that an exception has left count as running. The
  // walk is faster if it has about as many objects as `expected`. Call Free afterwards.
  schema::HolderStop Run(const PythonApi& api, uint64_t most_ns, bool failing, size_t expected);

  const PythonApi& api() const { return *api_; }
  ReachedObjects& reached() { return reached_; }
  GrowingArray<HeldBlock>& blocks() { return blocks_; }
  const TypeFacts& FactsOf(uint64_t object) { return types_.Of(TypeOf(object), *api_, memory_); }
  void Free();

 private:
  // Where paths begin, in object_paths.cc.
  void LearnClass();
  void ReachModules();
  void ReachFrames();
  void ReachHandledException();
  void ReachUnhandledException();
  void ReachFailedFrames(uint64_t traceback);
  void ReachFrame(uint64_t address, ObjectKind kind, uint64_t frame);
  // In unreached_objects.cc. ListTracked adds the objects that the garbage collector tracks: they are alive. It stops
  // after `most_ns`, and when half of the room for entries is used. ReachTheRest reaches what no root has reached, and
  // returns false if the time is over.
  void ListTracked(uint64_t most_ns);
  bool ReachTheRest();
  bool NoteTracked(GrowingArray<uint64_t>* to, uint64_t object);
  void ListGeneration(uint64_t head, GrowingArray<uint64_t>* from_end);
  void AddUnreached();
  void CountReference(uint64_t object);
  static int OnTracked(uint64_t object, void* walk);

  // Looks at all objects that were reached. Returns false if the time is over.
  bool Expand();
  bool OutOfTime();
  // Whether the walk has to end within a container, where it has come to the entry with this index.
  bool EndsAtEntry(uint64_t entry);

  // Reach what the current object refers to. A `stage` before the current one has no effect. Reach comes into effect
  // after some others, at the latest with FollowAll.
  void Reach(uint64_t object, Step step, uint16_t flags = 0, uint8_t stage = 0);
  void LookAtType(PendingReference* reference);
  void Follow(PendingReference reference);
  void FollowAll();
  void ReachAt(uint64_t address, ObjectKind kind, Step step, uint16_t flags, uint8_t stage);
  void NoteUse(uint64_t object, uint16_t use);
  void NoteUseOfWrapped(uint64_t object, uint16_t use);
  void NoteUseOfMemory(uint64_t data, uint16_t use);
  // Returns false if the object was reached before.
  template <typename Expansion>
  bool ExpandNow(uint64_t address, ObjectKind kind, Step step, uint16_t flags, Expansion expand);
  void Fill(Entry* entry, ObjectKind kind, Step step, uint16_t flags, uint8_t stage) const;
  // Reach what an object refers to, and its type: by one step, or as `visit(member)` says.
  void ReachReferred(uint64_t object, const TypeFacts& type, Step step);
  template <typename Visit>
  void ReachReferred(uint64_t object, const TypeFacts& type, Visit visit) {
    if (type.traverse == nullptr) return;
    const uint64_t of = type.type;
    // Classes are reached once. From a later stage, that is not another path to them.
    const bool type_is_new = types_.NoteReached(type);
    if (!type.only_attributes) {
      EachReferred(object, type, [&](uint64_t member) {
        if (member != of) visit(member);
      });
    }
    if (type_is_new) Reach(of, kMember, 0, kLeftover);
  }

  void ExpandPython(uint64_t object);
  void ExpandDict(uint64_t dict, uint64_t entries, uint16_t flags);
  void ExpandAttributes(uint64_t object, const TypeFacts& type);
  void ExpandFunction(uint64_t function);
  void ExpandFrame(uint64_t frame);
  void ExpandGenerator(uint64_t generator);
  void ExpandTraceback(uint64_t traceback);
  void ExpandContext(uint64_t object, const TypeFacts& type);
  void ExpandThreadLocal(uint64_t object, const TypeFacts& type);
  void ReachAttribute(uint64_t key, uint64_t value, uint16_t flags);
  uint64_t CodeOfFrame(uint64_t frame) const;
  // Returns the frame of a frame object, which is the object itself up to 3.10; 0 if it has none any more.
  uint64_t FrameOf(uint64_t object) const;

  // Objects of C++, in cpp_walk.cc.
  void ExpandTensor(uint64_t object, const TypeFacts& type, uint16_t flags);
  void ExpandStorageObject(uint64_t object, uint16_t flags);
  void ExpandTensorImpl(uint64_t impl, uint16_t flags);
  void ExpandStorage(uint64_t storage);
  void LearnNodeSize(uint64_t node, uint64_t leaf);
  bool ReadTensor(uint64_t impl, TensorFacts* facts);
  void ReachPythonTensorOf(uint64_t impl, const uint64_t* words, size_t count, uint16_t flags);
  void ExpandNode(uint64_t node, uint64_t name, NameKind kind);
  void ExpandCppObject(uint64_t object);
  template <typename Visit>
  void ScanWords(const uint64_t* words, size_t count, Visit visit);
  template <typename Visit>
  void ScanCandidates(const uint64_t* candidates, size_t count, Visit visit);
  void ReachPythonIn(uint64_t object, Step step);
  bool IsLivePythonObject(uint64_t address) const;
  uint8_t GraphStage() const;
  void AddBlock(const TensorFacts& facts);

  const PythonApi* api_;
  ProcessMemory memory_;
  ObjectTypes types_;
  CppClasses classes_;
  TensorLayout layout_;
  ReachedObjects reached_;
  PendingReferences pending_;
  GrowingArray<HeldBlock> blocks_;
  GrowingArray<uint32_t> unreached_;
  GrowingArray<uint64_t> tracked_;  // by the collector
  size_t noted_;                    // of these
  schema::HolderStop listed_;       // whether all of them are
  uint32_t current_;
  uint8_t stage_;
  uint64_t end_ns_;
  uint32_t until_clock_;
  bool out_of_time_, failing_;
  size_t impl_word_;
  size_t node_words_;      // that all graph nodes have, 0: not known yet
  uint16_t wrapped_uses_;  // of the tensor that is looked at, if it only wraps others
};

}  // namespace vramtrack::holders

#endif  // INTERPOSE_HOLDERS_OBJECT_WALK_H_
