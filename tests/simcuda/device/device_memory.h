// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_SIMCUDA_DEVICE_DEVICE_MEMORY_H_
#define TESTS_SIMCUDA_DEVICE_DEVICE_MEMORY_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "tests/simcuda/device/arena.h"
#include "tests/simcuda/device/page_tree.h"
#include "tests/simcuda/device/small_page.h"

namespace vramtrack::simcuda {

// The use of a page of device memory.
enum class PageUse : uint8_t {
  kFree,
  kSmall,     // shared by allocations of up to 1 MiB
  kLinear,    // starts one allocation of whole pages
  kPool,      // starts a chunk of a stream-ordered pool
  kPhysical,  // starts memory of cuMemCreate, which is mapped at another address
  kContext,   // starts the context's own memory
};

// The memory of one device: a range of addresses with 2 MiB pages, allocated by first fit. As a driver maps any free
// pages at contiguous addresses, there are twice as many addresses as memory: an allocation fails because too little is
// free, not because of its pieces. Allocations of up to 1 MiB share pages. Used memory is counted in whole pages, as
// the driver does.
//
// Thread-safe. Small allocations of different threads use different sets of pages (stripes), each with its own lock.
// The first thread that allocates has the first stripe, so a program with one thread gets the same addresses in every
// run.
class DeviceMemory {
 public:
  struct Range {
    char* base = nullptr;
    size_t bytes = 0;  // requested bytes
    PageUse use = PageUse::kFree;
    void* owner = nullptr;
  };
  enum class FreeResult { kFreed, kNotAnAllocation };

  DeviceMemory(int device, size_t bytes, bool backed);
  ~DeviceMemory();

  // Allocates `bytes` (at least 1), aligned to 512 bytes, or to 2 MiB if `bytes` is more than 1 MiB. Returns nullptr if
  // the memory does not suffice.
  char* Allocate(size_t bytes);

  // Frees an allocation. `address` must be the address that Allocate returned.
  FreeResult Free(void* address);

  // Takes one run of pages for another use than Allocate. Returns nullptr if no run is long enough.
  char* TakePages(size_t pages, PageUse use, void* owner);
  // Takes pages in as many runs as necessary. Takes nothing on failure.
  struct PageRun {
    char* base;
    size_t pages;
  };
  bool TakeScatteredPages(size_t pages, PageUse use, void* owner, std::vector<PageRun>* runs);
  void ReturnPages(char* base);

  // Finds the range that contains `address`. Returns false if there is none.
  bool Find(const void* address, Range* range);

  bool Contains(const void* address) const {
    return static_cast<size_t>(static_cast<const char*>(address) - arena_.base()) < arena_.bytes();
  }

  // Frees all allocations of Allocate.
  void FreeAll();

  size_t total_bytes() const { return memory_pages_ * kPageBytes; }
  size_t used_bytes() const;
  Arena& arena() { return arena_; }

  // Calls `visit(base, bytes)` for each live allocation of Allocate, ordered by address.
  template <typename Visitor>
  void ForEachAllocation(Visitor visit) {
    for (size_t page = 0; page < tree_.pages(); ++page) {
      Page& entry = pages_[page];
      if (entry.use == PageUse::kLinear) visit(PageAddress(page), entry.bytes);
      if (entry.use != PageUse::kSmall) continue;
      const SmallPage& small = *static_cast<SmallPage*>(entry.owner.load());
      for (unsigned unit = 0; unit < SmallPage::kUnits; ++unit) {
        if (small.BytesAt(unit) != 0) visit(PageAddress(page) + unit * kUnitBytes, small.BytesAt(unit));
      }
    }
  }

 private:
  static constexpr size_t kStripes = 16;
  static constexpr size_t kSmallLimit = size_t{1} << 20;

  struct Page {
    std::atomic<PageUse> use;
    uint8_t stripe;
    uint32_t pages;            // length of the run that starts here
    std::atomic<void*> owner;  // the SmallPage, or the owner passed to TakePages
    size_t bytes;              // requested bytes
  };
  struct SharedPage {
    size_t page;
    SmallPage* small;
  };
  struct alignas(64) Stripe {
    std::mutex mutex;
    std::vector<SharedPage> pages;  // ordered by address
    size_t empty_pages = 0;         // 0 or 1; kept for the next small allocation
  };

  char* PageAddress(size_t page) const { return arena_.base() + page * kPageBytes; }
  size_t PageOf(const void* address) const {
    return static_cast<size_t>(static_cast<const char*>(address) - arena_.base()) / kPageBytes;
  }

  char* AllocateSmall(size_t bytes);
  char* TakeFromStripe(Stripe* stripe, size_t bytes);
  char* GrowStripe(size_t index, size_t bytes);
  FreeResult FreeSmall(size_t page, void* address);
  char* AllocatePages(size_t bytes);
  void ReleaseEmptyPages();

  // These require mutex_ to be held.
  size_t FreePages() const { return memory_pages_ - (tree_.pages() - tree_.free_pages()); }
  // Returns the lowest page from which `pages` are free, or PageTree::kNone, also if the memory does not suffice.
  size_t FindPages(size_t pages) const { return pages <= FreePages() ? tree_.FirstFit(pages) : PageTree::kNone; }
  void Describe(size_t page, size_t pages, PageUse use, void* owner, size_t bytes);
  void ReleaseRun(size_t page);
  bool KeepsEmptyPages() const;
  bool StartOfRun(size_t page, size_t* start) const;

  const size_t memory_pages_;
  Arena arena_;
  std::mutex mutex_;  // guards tree_, starts_ and changes of pages_; locked after a stripe's mutex
  PageTree tree_;
  std::unique_ptr<Page[]> pages_;
  std::vector<uint64_t> starts_;  // one bit for each page at which a run starts
  std::array<Stripe, kStripes> stripes_;
  std::vector<std::unique_ptr<SmallPage>> unused_small_pages_;  // not freed, because a late lookup may still read one
  std::atomic<size_t> used_pages_{0};
};

}  // namespace vramtrack::simcuda

#endif  // TESTS_SIMCUDA_DEVICE_DEVICE_MEMORY_H_
