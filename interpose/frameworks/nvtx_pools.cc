// SPDX-License-Identifier: Apache-2.0
//
// Records the blocks of pools that a program describes with the memory extension of NVTX: a heap is the memory that a
// pool divides, a region is one of its blocks. RMM describes its pools so, and any program can (docs/frameworks.md).
// The extension is header-only, as NVTX itself: each library has its own copy, which passes a table of functions here.
//
// Heaps count if their memory begins where CUDA allocated device memory, or if they are in such a heap. Others are of
// the host, or nothing is known of their memory. The handle of a region is its address.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>

#include "interpose/base/spin_lock.h"
#include "interpose/frameworks/allocator.h"
#include "interpose/hooks/table/nvtx_abi.h"
#include "interpose/hooks/table/real_entry.h"
#include "interpose/recorder/live_set.h"
#include "interpose/session/mark_names.h"

namespace vramtrack {
namespace {

using namespace nvtx;  // NOLINT: its callbacks are written as NVTX has them

constexpr char kFramework[] = "NVTX";

struct Heap {
  bool used;
  uint64_t begin, bytes;
  int device;
};

// The pools of the process. A forked child knows them, but none of their blocks.
constexpr size_t kMostHeaps = 4096;
Heap heaps[kMostHeaps];
LiveSet regions;  // by address; `site` is the number of the heap
SpinLock lock;

bool Contains(const Heap& heap, uint64_t address, uint64_t bytes) {
  return heap.used && address >= heap.begin && bytes <= heap.bytes && address - heap.begin <= heap.bytes - bytes;
}

bool IsHandle(const void* heap) {
  const auto at = reinterpret_cast<uintptr_t>(heap);
  return at >= reinterpret_cast<uintptr_t>(heaps) && at < reinterpret_cast<uintptr_t>(heaps + kMostHeaps);
}

uint32_t NumberOf(const void* heap) { return static_cast<uint32_t>(static_cast<const Heap*>(heap) - heaps); }

// Returns the device of the memory, or kNotRecorded.
int DeviceAt(uint64_t begin, uint64_t bytes, const Call& call) {
  for (const schema::Kind kind : {schema::DEVICE, schema::PITCHED, schema::MANAGED}) {
    if (call.IsAllocated(kind, begin)) return static_cast<int>(thread_state.device);
  }
  for (const Heap& heap : heaps) {
    if (Contains(heap, begin, bytes)) return heap.device;
  }
  return Allocators::kNotRecorded;
}

const char* NameOf(const HeapDescription& description, const void* domain) {
  if (description.message_type == kAscii || description.message_type == kRegistered) {
    if (description.message != nullptr) return static_cast<const char*>(description.message);
  }
  return domain == nullptr ? "pool" : static_cast<const char*>(domain);
}

Heap* NewHeap() {
  for (Heap& heap : heaps) {
    if (!heap.used) return &heap;
  }
  return nullptr;
}

const void* HeapRegister(const void* domain, const HeapDescription* description) {
  if (description == nullptr || description->size < sizeof *description || description->type != kVirtualAddress ||
      description->description == nullptr || description->description_bytes < sizeof(VirtualRange)) {
    return nullptr;
  }
  const auto& range = *static_cast<const VirtualRange*>(description->description);
  const auto begin = reinterpret_cast<uint64_t>(range.address);
  // Before the first CUDA call there is no device memory, and nothing is recorded.
  if (Session::Running() == nullptr) return nullptr;
  Call call(kBlocks);
  if (!call.active()) return nullptr;
  Heap* heap;
  {
    const SpinLockHolder holder(&lock);
    if (!holder.held() || (heap = NewHeap()) == nullptr) return nullptr;
    const int device =
        description->usage == kSubAllocator ? DeviceAt(begin, range.bytes, call) : Allocators::kNotRecorded;
    *heap = {true, begin, range.bytes, device};
  }
  if (heap->device >= 0) {
    Allocators::Learn(heap, kFramework, NameOf(*description, domain), heap->device);
    Allocators::Define(heap, &call);
  }
  return heap;
}

// Ends the regions of a heap. Events are recorded without the lock, as everywhere here.
void EndRegions(uint32_t heap, Call* call) {
  constexpr size_t kAtOnce = 256;
  uint64_t ended[kAtOnce];
  size_t count;
  do {
    count = 0;
    {
      const SpinLockHolder holder(&lock);
      if (!holder.held()) return;
      regions.ForEach([&](LiveRecord* region) {
        if (region->site != heap || count == kAtOnce) return;
        ended[count++] = region->address;
        regions.Erase(region);
      });
    }
    for (size_t i = 0; call->active() && i < count; ++i) call->BlockFreed(ended[i], heaps[heap].device);
  } while (count == kAtOnce);
}

void HeapReset(const void*, const void* heap) {
  if (!IsHandle(heap) || Session::Running() == nullptr) return;
  Call call(kBlocks);
  EndRegions(NumberOf(heap), &call);
}

void HeapUnregister(const void*, const void* heap) {
  if (!IsHandle(heap) || Session::Running() == nullptr) return;
  Call call(kBlocks);
  const uint32_t number = NumberOf(heap);
  EndRegions(number, &call);
  Allocators::Forget(&heaps[number]);
  const SpinLockHolder holder(&lock);
  if (holder.held()) heaps[number].used = false;
}

// Returns the heap of a region and forgets the region; nullptr if it is not known.
const Heap* Forget(uint64_t address) {
  const SpinLockHolder holder(&lock);
  if (!holder.held()) return nullptr;
  LiveRecord* const region = address == 0 ? nullptr : regions.Find(address);
  if (region == nullptr) return nullptr;
  const Heap* const heap = &heaps[region->site];
  regions.Erase(region);
  return heap;
}

void Register(const Heap& heap, const VirtualRange& range, Call* call) {
  const auto address = reinterpret_cast<uint64_t>(range.address);
  if (address == 0 || !Contains(heap, address, range.bytes)) return;
  // Registered twice, it has ended without a word.
  if (const Heap* known = Forget(address)) call->BlockFreed(address, known->device);
  {
    LiveRecord region = {};
    region.identity = region.address = address;
    region.bytes = range.bytes;
    region.site = NumberOf(&heap);
    const SpinLockHolder holder(&lock);
    if (!holder.held() || !regions.Insert(region)) return;
  }
  call->BlockAllocated(address, range.bytes, heap.device);
}

// Calls `on_element` for each element of an array whose elements may be longer than is known here.
template <typename Element, typename OnElement>
void ForEach(const void* elements, size_t count, size_t element_bytes, OnElement on_element) {
  if (elements == nullptr || element_bytes < sizeof(Element)) return;
  for (size_t i = 0; i < count; ++i) {
    Element element;
    std::memcpy(&element, static_cast<const char*>(elements) + i * element_bytes, sizeof element);
    on_element(i, element);
  }
}

void RegionsRegistered(const void*, const RegionsRegister* batch) {
  if (batch == nullptr || batch->size < sizeof *batch || batch->type != kVirtualAddress) return;
  if (batch->handles != nullptr) {
    ForEach<VirtualRange>(batch->elements, batch->count, batch->element_bytes,
                          [&](size_t i, const VirtualRange& range) { batch->handles[i] = range.address; });
  }
  if (!IsHandle(batch->heap) || Session::Running() == nullptr) return;
  const Heap& heap = heaps[NumberOf(batch->heap)];
  if (heap.device < 0) return;
  Call call(kBlocks);
  if (!call.active()) return;
  ForEach<VirtualRange>(batch->elements, batch->count, batch->element_bytes,
                        [&](size_t, const VirtualRange& range) { Register(heap, range, &call); });
}

void RegionsResized(const void*, const RegionsResize* batch) {
  if (batch == nullptr || batch->size < sizeof *batch || batch->type != kVirtualAddress) return;
  if (Session::Running() == nullptr) return;
  Call call(kBlocks);
  if (!call.active()) return;
  ForEach<VirtualRange>(batch->elements, batch->count, batch->element_bytes, [&](size_t, const VirtualRange& range) {
    const auto address = reinterpret_cast<uint64_t>(range.address);
    const Heap* const heap = Forget(address);
    if (heap == nullptr) return;
    call.BlockFreed(address, heap->device);
    Register(*heap, range, &call);
  });
}

void RegionsUnregistered(const void*, const RegionsUnregister* batch) {
  if (batch == nullptr || batch->size < sizeof *batch || Session::Running() == nullptr) return;
  Call call(kBlocks);
  ForEach<uint64_t>(batch->elements, batch->count, batch->element_bytes, [&](size_t, uint64_t address) {
    const Heap* const heap = Forget(address);
    if (heap != nullptr && call.active()) call.BlockFreed(address, heap->device);
  });
}

// Names of blocks, and of any other memory that begins there.
void RegionsNamed(const void* domain, const RegionNames* batch) {
  if (batch == nullptr || batch->size < sizeof *batch || Session::Running() == nullptr) return;
  ForEach<RegionName>(batch->elements, batch->count, batch->element_bytes, [&](size_t, const RegionName& named) {
    if (named.name == nullptr || (named.name_type != kAscii && named.name_type != kRegistered)) return;
    Call call(kNoFamily);
    if (!call.active()) return;
    const uint64_t number = call.NumberOf(reinterpret_cast<uint64_t>(named.region));
    if (number == 0) return;
    const auto* const of = static_cast<const char*>(domain);
    const MarkName name = vramtrack::NameOf(static_cast<const char*>(named.name), of, call.session(), call.writer());
    call.Mark(schema::MARK_MEMORY_NAME, name.id, number);
  });
}

struct Slot {
  size_t index;  // NVTX3EXT_CBID_*
  Function function;
};
#define VRAMTRACK_SLOT(index, function) \
  { index, reinterpret_cast<Function>(&function) }
const Slot kSlots[] = {
    VRAMTRACK_SLOT(0, HeapRegister),      VRAMTRACK_SLOT(1, HeapUnregister), VRAMTRACK_SLOT(2, HeapReset),
    VRAMTRACK_SLOT(3, RegionsRegistered), VRAMTRACK_SLOT(4, RegionsResized), VRAMTRACK_SLOT(5, RegionsUnregistered),
    VRAMTRACK_SLOT(6, RegionsNamed),
};

}  // namespace
}  // namespace vramtrack

// NVTX calls this for each extension of each of its copies; 1 means success.
VRAMTRACK_EXPORT int InitializeInjectionNvtxExtension(vramtrack::nvtx::ExtensionModule* module) {
  using namespace vramtrack;        // NOLINT
  using namespace vramtrack::nvtx;  // NOLINT
  if (module == nullptr || module->size < sizeof *module || module->module != kMemoryModule ||
      module->compatibility != kMemoryCompatibility || module->segment_count == 0 || module->segments == nullptr) {
    return 0;
  }
  const ExtensionSegment& segment = module->segments[0];
  for (const Slot& slot : kSlots) {
    if (slot.index < segment.slot_count) segment.slots[slot.index] = reinterpret_cast<intptr_t>(slot.function);
  }
  return 1;
}
