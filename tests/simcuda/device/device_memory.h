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

// What a page of device memory is used for.
enum class PageUse : uint8_t {
  kFree,
  kSmall,     // shared by allocations under a megabyte
  kLinear,    // starts one allocation of whole pages
  kPool,      // starts a chunk of a stream-ordered pool
  kPhysical,  // starts memory that is mapped elsewhere: cuMemCreate
  kContext,   // starts what the context itself takes
};

// The memory of one device: 2 MiB pages in a range of addresses, first fit, so that it can run out by amount and by
// contiguity. Allocations under 1 MiB share pages. What is in use is counted in whole pages, as the driver does.
//
// Thread safe. Small allocations of different threads go to different sets of pages (stripes), each with a lock of its
// own; the first thread that allocates has the first stripe, so a program with one thread gets the same addresses each
// time.
class DeviceMemory {
 public:
  struct Range {
    char* base = nullptr;
    size_t bytes = 0;  // as asked for
    PageUse use = PageUse::kFree;
    void* owner = nullptr;
  };
  enum class FreeResult { kFreed, kNotAnAllocation };

  DeviceMemory(int device, size_t bytes, bool backed);
  ~DeviceMemory();

  // One to any number of bytes, aligned to 512, or to 2 MiB from 1 MiB on. nullptr when there is no room.
  char* Allocate(size_t bytes);

  // Only the start of what Allocate returned can be freed.
  FreeResult Free(void* address);

  // One run of pages for something else than Allocate; nullptr when there is no such run.
  char* TakePages(size_t pages, PageUse use, void* owner);
  // The same in as many runs as it takes. On failure nothing is taken.
  struct PageRun {
    char* base;
    size_t pages;
  };
  bool TakeScatteredPages(size_t pages, PageUse use, void* owner, std::vector<PageRun>* runs);
  void ReturnPages(char* base);

  // What covers `address`.
  bool Find(const void* address, Range* range);

  bool Contains(const void* address) const {
    return static_cast<size_t>(static_cast<const char*>(address) - arena_.base()) < arena_.bytes();
  }

  // Frees all that Allocate gave out.
  void FreeAll();

  size_t total_bytes() const { return arena_.bytes(); }
  size_t used_bytes() const;
  size_t longest_free_bytes();
  Arena& arena() { return arena_; }

  // Calls `visit(base, bytes)` for all that Allocate gave out and was not freed, by address.
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
    uint32_t pages;            // of the run that starts here
    std::atomic<void*> owner;  // the SmallPage, or what TakePages was given
    size_t bytes;              // as asked for
  };
  struct SharedPage {
    size_t page;
    SmallPage* small;
  };
  struct alignas(64) Stripe {
    std::mutex mutex;
    std::vector<SharedPage> pages;  // by address
    size_t empty_pages = 0;         // 0 or 1: the next small allocation will want it again
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

  // These want mutex_ held.
  void Describe(size_t page, size_t pages, PageUse use, void* owner, size_t bytes);
  void ReleaseRun(size_t page);
  bool KeepsEmptyPages() const;
  bool StartOfRun(size_t page, size_t* start) const;

  Arena arena_;
  std::mutex mutex_;  // tree_, starts_ and changes of pages_; taken after a stripe's
  PageTree tree_;
  std::unique_ptr<Page[]> pages_;
  std::vector<uint64_t> starts_;  // a bit for each page where a run starts
  std::array<Stripe, kStripes> stripes_;
  std::vector<std::unique_ptr<SmallPage>> unused_small_pages_;  // kept: a late look-up may still read one
  std::atomic<size_t> used_pages_{0};
};

}  // namespace vramtrack::simcuda

#endif  // TESTS_SIMCUDA_DEVICE_DEVICE_MEMORY_H_
