// SPDX-License-Identifier: Apache-2.0
//
// The objects that a walk has reached, each with the object that it was reached from. Chains of these are the paths.
#ifndef INTERPOSE_HOLDERS_REACHED_OBJECTS_H_
#define INTERPOSE_HOLDERS_REACHED_OBJECTS_H_

#include <cstddef>
#include <cstdint>

#include "interpose/base/growing_array.h"
#include "proto/schema_constants.h"

namespace vramtrack::holders {

// What the address of an Entry is.
enum class ObjectKind : uint8_t {
  kPython,     // a Python object
  kFrame,      // a frame that runs or is suspended, since 3.11
  kTensor,     // a c10::TensorImpl
  kNode,       // an autograd graph node
  kCppObject,  // an object of C++ that a Python object holds
  kStorage,    // a c10::StorageImpl
};

// What the name of a step is made of.
enum class NameKind : uint8_t {
  kNone,
  kText,        // a str
  kCharacters,  // zero-terminated
  kNumber,
  kCode,    // a code object: its qualified name
  kClass,   // a mangled name of C++
  kMember,  // not known yet: where the object that it was reached from has this one
};

struct Step {
  schema::HolderStep step;  // HOLDER_NONE: the path does not change
  NameKind kind;
  uint64_t name;
};

// To something that has the same name, such as the dict of an object; and to something inside an object.
constexpr Step kSame = {schema::HOLDER_NONE, NameKind::kNone, 0};
constexpr Step kMember = {schema::HOLDER_MEMBER, NameKind::kMember, 0};

// The order in which objects are looked at. Objects of an earlier stage are all looked at before any of a later one, so
// that a path goes through the program's own names rather than through PyTorch's or the optimizer's.
enum Stage : uint8_t {
  kOwn,  // modules and frames of the program's own files
  kOptimizers,
  kOwnGraph,   // behind the grad_fn of tensors
  kInstalled,  // modules and frames of installed packages
  kLeftover,   // classes and globals that no module has
  kInstalledGraph,
  kLarge,    // containers with so many entries that they leave no time for anything else
  kOutside,  // what nothing above reaches, but is referred to from outside of Python's objects
  kOutsideGraph,
  kGarbage,  // what only reference cycles keep
  kGarbageGraph,
  kStages,
  kNotReached = kStages,  // see unreached_objects.cc
};

// Flags of an Entry.
constexpr uint16_t kExpanded = 1,
                   kAttributes = 2,  // a dict whose entries are attributes of its owner
    kModuleAttributes = 4,           // likewise, of a torch.nn.Module
    kOfModule = 8,                   // likewise: the attributes of a torch.nn.Module
    kOfOptimizer = 16,               // likewise: of a torch.optim.Optimizer
    kParameters = 32, kBuffers = 64, kOptimizerState = 128, kGradient = 256, kSaved = 512,
                   kUnreached = 1024,  // not reached from any name; see unreached_objects.cc
    kContainer = 2048,                 // its members are entries
    kRequiresGradient = 4096,
                   kEarly = 8192,  // reached in the tree of a torch.nn.Module
    kWhole = 16384,                // all that it refers to was reached from it
    kUses = kParameters | kBuffers | kOptimizerState | kGradient | kSaved;

struct Entry {
  uint64_t address;
  uint64_t name;
  uint32_t parent;  // 0: none
  uint32_t row;     // of the path once it was needed, 1 + row
  uint16_t flags;
  ObjectKind kind;
  NameKind name_kind;
  uint8_t step, stage;
  uint16_t references;  // while kUnreached: those from other unreached objects, at most UINT16_MAX
};
static_assert(sizeof(Entry) == 32, "half a cache line");

// Zero-initialised memory is an empty set. Entry 0 is never used. Not thread-safe.
class ReachedObjects {
 public:
  static constexpr size_t kMaxEntries = size_t{6} << 20;

  // Makes room for this many entries at once, which takes less time than as they come. Call it at the beginning.
  void Expect(size_t entries);

  // Returns the entry of the address, or 0.
  uint32_t Find(uint64_t address) const;
  // Returns the entry of an address that is new, or that was added with a later stage; it has this stage now. Returns 0
  // if the address was added with this stage or an earlier one, if there is no memory, and if kMaxEntries is reached.
  uint32_t Add(uint64_t address, uint8_t stage);

  // Ask for the memory that Add(address) will look at first, and for the entry that it will find. They have no effect
  // but on time: GCC drops calls of such functions unless they are inlined.
  __attribute__((always_inline)) void PrefetchSlot(uint64_t address) const {
    if (slot_count_ != 0) __builtin_prefetch(&slots_[HomeOf(address)], 1);
  }
  __attribute__((always_inline)) void PrefetchEntry(uint64_t address) const {
    if (slot_count_ == 0) return;
    const Slot& slot = slots_[HomeOf(address)];
    if (slot.address == address) __builtin_prefetch(&entries_[slot.entry], 1);
  }

  Entry& operator[](uint32_t entry) { return entries_[entry]; }
  const Entry& operator[](uint32_t entry) const { return entries_[entry]; }
  uint32_t size() const { return static_cast<uint32_t>(entries_.size()); }
  bool full() const { return entries_.size() >= kMaxEntries; }
  bool no_memory() const { return no_memory_; }

  // The objects of a stage that are yet to be looked at, first in first out; those that were pushed with `early` before
  // the others. Push returns false if there is no memory.
  bool Push(uint8_t stage, uint32_t entry, bool early = false);
  // Returns the next one of the earliest stage that has any, or 0.
  uint32_t Pop();
  // Returns whether more of those wait that the last one of Pop waited with.
  bool HasMore() const { return queues_[last_queue_].next < queues_[last_queue_].entries.size(); }

  void Free();

 private:
  // With what most look-ups need, so that they do not touch the entry.
  struct Slot {
    uint64_t address;  // 0: unused
    uint32_t entry;
    uint8_t stage;
  };

  bool Grow(size_t slots);
  size_t HomeOf(uint64_t address) const { return address * 0x9e3779b97f4a7c15 >> shift_; }
  // The slot of the address, or the unused one where it belongs.
  Slot& SlotOf(uint64_t address) const;

  struct Queue {
    GrowingArray<uint32_t> entries;
    size_t next;
  };

  GrowingArray<Entry> entries_;
  Slot* slots_;
  size_t slot_count_;
  int shift_;
  bool no_memory_;
  Queue queues_[2 * kStages];  // of each stage the early ones and the others
  size_t last_queue_;
};

}  // namespace vramtrack::holders

#endif  // INTERPOSE_HOLDERS_REACHED_OBJECTS_H_
