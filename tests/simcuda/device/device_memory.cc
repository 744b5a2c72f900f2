// SPDX-License-Identifier: Apache-2.0
#include "tests/simcuda/device/device_memory.h"

#include <algorithm>

namespace vramtrack::simcuda {
namespace {

constexpr size_t kAddresses = 2;  // for each byte of memory

// Threads are numbered as they first allocate.
size_t ThreadNumber() {
  static std::atomic<size_t> next{0};
  static thread_local size_t number = next.fetch_add(1, std::memory_order_relaxed);
  return number;
}

size_t PagesOf(size_t bytes) { return bytes / kPageBytes + (bytes % kPageBytes != 0); }

}  // namespace

DeviceMemory::DeviceMemory(int device, size_t bytes, bool backed)
    : memory_pages_(bytes / kPageBytes),
      arena_(device, kAddresses * memory_pages_ * kPageBytes, backed),
      tree_(arena_.bytes() / kPageBytes),
      pages_(new Page[arena_.bytes() / kPageBytes]()),
      starts_(arena_.bytes() / kPageBytes / 64 + 1) {}

DeviceMemory::~DeviceMemory() {
  for (Stripe& stripe : stripes_) {
    for (const SharedPage& shared : stripe.pages) delete shared.small;
  }
}

char* DeviceMemory::Allocate(size_t bytes) {
  if (bytes == 0) return nullptr;
  char* address = bytes <= kSmallLimit ? AllocateSmall(bytes) : AllocatePages(bytes);
  if (address != nullptr) return address;
  // Pages kept for later small allocations are free memory all the same.
  ReleaseEmptyPages();
  return bytes <= kSmallLimit ? AllocateSmall(bytes) : AllocatePages(bytes);
}

DeviceMemory::FreeResult DeviceMemory::Free(void* address) {
  if (!Contains(address)) return FreeResult::kNotAnAllocation;
  const size_t page = PageOf(address);
  const PageUse use = pages_[page].use.load(std::memory_order_acquire);
  if (use == PageUse::kSmall) return FreeSmall(page, address);
  if (use != PageUse::kLinear || address != PageAddress(page)) return FreeResult::kNotAnAllocation;
  std::lock_guard<std::mutex> lock(mutex_);
  if (pages_[page].use != PageUse::kLinear) return FreeResult::kNotAnAllocation;
  ReleaseRun(page);
  return FreeResult::kFreed;
}

char* DeviceMemory::AllocateSmall(size_t bytes) {
  const size_t mine = ThreadNumber() % kStripes;
  {
    std::lock_guard<std::mutex> lock(stripes_[mine].mutex);
    char* address = TakeFromStripe(&stripes_[mine], bytes);
    if (address == nullptr) address = GrowStripe(mine, bytes);
    if (address != nullptr) return address;
  }
  // The device has no free page left, but another stripe may have room in one of its own.
  for (Stripe& stripe : stripes_) {
    std::lock_guard<std::mutex> lock(stripe.mutex);
    char* address = TakeFromStripe(&stripe, bytes);
    if (address != nullptr) return address;
  }
  return nullptr;
}

char* DeviceMemory::TakeFromStripe(Stripe* stripe, size_t bytes) {
  const unsigned units = SmallPage::UnitsOf(bytes);
  for (const SharedPage& shared : stripe->pages) {
    if (shared.small->longest_bound() < units) continue;
    const bool was_empty = shared.small->empty();
    const int unit = shared.small->Take(bytes);
    if (unit < 0) continue;
    if (was_empty) {
      stripe->empty_pages -= 1;
      used_pages_.fetch_add(1, std::memory_order_relaxed);
    }
    return PageAddress(shared.page) + static_cast<size_t>(unit) * kUnitBytes;
  }
  return nullptr;
}

char* DeviceMemory::GrowStripe(size_t index, size_t bytes) {
  Stripe& stripe = stripes_[index];
  size_t page;
  SmallPage* small;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    page = FindPages(1);
    if (page == PageTree::kNone) return nullptr;
    if (unused_small_pages_.empty()) unused_small_pages_.push_back(std::make_unique<SmallPage>());
    small = unused_small_pages_.back().release();
    unused_small_pages_.pop_back();
    tree_.MarkUsed(page, 1);
    pages_[page].stripe = static_cast<uint8_t>(index);
    Describe(page, 1, PageUse::kSmall, small, kPageBytes);
  }
  auto place = std::lower_bound(stripe.pages.begin(), stripe.pages.end(), page,
                                [](const SharedPage& shared, size_t wanted) { return shared.page < wanted; });
  stripe.pages.insert(place, SharedPage{page, small});
  stripe.empty_pages += 1;
  return TakeFromStripe(&stripe, bytes);
}

DeviceMemory::FreeResult DeviceMemory::FreeSmall(size_t page, void* address) {
  const size_t offset = static_cast<size_t>(static_cast<char*>(address) - PageAddress(page));
  if (offset % kUnitBytes != 0) return FreeResult::kNotAnAllocation;
  Stripe& stripe = stripes_[pages_[page].stripe];
  std::lock_guard<std::mutex> lock(stripe.mutex);
  // The page may have changed hands since it was looked at: two threads free the same address.
  if (pages_[page].use.load(std::memory_order_relaxed) != PageUse::kSmall ||
      &stripe != &stripes_[pages_[page].stripe]) {
    return FreeResult::kNotAnAllocation;
  }
  SmallPage* small = static_cast<SmallPage*>(pages_[page].owner.load(std::memory_order_relaxed));
  if (!small->Give(static_cast<unsigned>(offset / kUnitBytes))) return FreeResult::kNotAnAllocation;
  if (!small->empty()) return FreeResult::kFreed;
  used_pages_.fetch_sub(1, std::memory_order_relaxed);
  if (stripe.empty_pages == 0) {
    stripe.empty_pages = 1;
    return FreeResult::kFreed;
  }
  auto place = std::lower_bound(stripe.pages.begin(), stripe.pages.end(), page,
                                [](const SharedPage& shared, size_t wanted) { return shared.page < wanted; });
  stripe.pages.erase(place);
  std::lock_guard<std::mutex> device_lock(mutex_);
  unused_small_pages_.emplace_back(small);
  used_pages_.fetch_add(1, std::memory_order_relaxed);  // ReleaseRun takes it off again
  ReleaseRun(page);
  return FreeResult::kFreed;
}

void DeviceMemory::ReleaseEmptyPages() {
  for (Stripe& stripe : stripes_) {
    std::lock_guard<std::mutex> lock(stripe.mutex);
    if (stripe.empty_pages == 0) continue;
    auto place = std::find_if(stripe.pages.begin(), stripe.pages.end(),
                              [](const SharedPage& shared) { return shared.small->empty(); });
    std::lock_guard<std::mutex> device_lock(mutex_);
    unused_small_pages_.emplace_back(place->small);
    used_pages_.fetch_add(1, std::memory_order_relaxed);
    ReleaseRun(place->page);
    stripe.pages.erase(place);
    stripe.empty_pages = 0;
  }
}

bool DeviceMemory::KeepsEmptyPages() const {
  return tree_.pages() - tree_.free_pages() != used_pages_.load(std::memory_order_relaxed);
}

char* DeviceMemory::AllocatePages(size_t bytes) {
  const size_t pages = PagesOf(bytes);
  std::unique_lock<std::mutex> lock(mutex_);
  // A page that is kept for later small allocations must not decide where the next large one goes.
  if (KeepsEmptyPages()) {
    lock.unlock();
    ReleaseEmptyPages();
    lock.lock();
  }
  const size_t page = FindPages(pages);
  if (page == PageTree::kNone) return nullptr;
  tree_.MarkUsed(page, pages);
  used_pages_.fetch_add(pages, std::memory_order_relaxed);
  Describe(page, pages, PageUse::kLinear, nullptr, bytes);
  return PageAddress(page);
}

char* DeviceMemory::TakePages(size_t pages, PageUse use, void* owner) {
  ReleaseEmptyPages();
  std::lock_guard<std::mutex> lock(mutex_);
  const size_t page = FindPages(pages);
  if (page == PageTree::kNone) return nullptr;
  tree_.MarkUsed(page, pages);
  used_pages_.fetch_add(pages, std::memory_order_relaxed);
  Describe(page, pages, use, owner, pages * kPageBytes);
  return PageAddress(page);
}

bool DeviceMemory::TakeScatteredPages(size_t pages, PageUse use, void* owner, std::vector<PageRun>* runs) {
  ReleaseEmptyPages();
  std::lock_guard<std::mutex> lock(mutex_);
  if (FreePages() < pages) return false;
  while (pages != 0) {
    size_t length = pages;
    size_t page = tree_.FirstFit(pages);
    if (page == PageTree::kNone) page = tree_.LowestFreeRun(pages, &length);
    tree_.MarkUsed(page, length);
    used_pages_.fetch_add(length, std::memory_order_relaxed);
    Describe(page, length, use, owner, length * kPageBytes);
    runs->push_back({PageAddress(page), length});
    pages -= length;
  }
  return true;
}

void DeviceMemory::ReturnPages(char* base) {
  std::lock_guard<std::mutex> lock(mutex_);
  ReleaseRun(PageOf(base));
}

bool DeviceMemory::Find(const void* address, Range* range) {
  if (!Contains(address)) return false;
  const size_t page = PageOf(address);
  if (pages_[page].use.load(std::memory_order_acquire) == PageUse::kSmall) {
    std::lock_guard<std::mutex> lock(stripes_[pages_[page].stripe].mutex);
    if (pages_[page].use.load(std::memory_order_relaxed) != PageUse::kSmall) return false;
    const SmallPage& small = *static_cast<SmallPage*>(pages_[page].owner.load(std::memory_order_relaxed));
    const size_t offset = static_cast<size_t>(static_cast<const char*>(address) - PageAddress(page));
    const int start = small.StartOf(static_cast<unsigned>(offset / kUnitBytes));
    if (start < 0) return false;
    *range = {PageAddress(page) + static_cast<size_t>(start) * kUnitBytes, small.BytesAt(static_cast<unsigned>(start)),
              PageUse::kSmall, nullptr};
    return true;
  }
  std::lock_guard<std::mutex> lock(mutex_);
  size_t start;
  if (!StartOfRun(page, &start)) return false;
  const Page& entry = pages_[start];
  *range = {PageAddress(start), entry.bytes, entry.use, entry.owner};
  return entry.use != PageUse::kSmall;
}

void DeviceMemory::FreeAll() {
  for (Stripe& stripe : stripes_) {
    std::lock_guard<std::mutex> lock(stripe.mutex);
    std::lock_guard<std::mutex> device_lock(mutex_);
    for (const SharedPage& shared : stripe.pages) {
      if (shared.small->empty()) used_pages_.fetch_add(1, std::memory_order_relaxed);
      shared.small->Clear();
      unused_small_pages_.emplace_back(shared.small);
      ReleaseRun(shared.page);
    }
    stripe.pages.clear();
    stripe.empty_pages = 0;
  }
  std::lock_guard<std::mutex> lock(mutex_);
  for (size_t page = 0; page < tree_.pages(); ++page) {
    if (pages_[page].use == PageUse::kLinear) ReleaseRun(page);
  }
}

size_t DeviceMemory::used_bytes() const { return used_pages_.load(std::memory_order_relaxed) * kPageBytes; }

void DeviceMemory::Describe(size_t page, size_t pages, PageUse use, void* owner, size_t bytes) {
  Page& entry = pages_[page];
  entry.pages = static_cast<uint32_t>(pages);
  entry.owner.store(owner, std::memory_order_relaxed);
  entry.bytes = bytes;
  entry.use.store(use, std::memory_order_release);
  starts_[page / 64] |= uint64_t{1} << (page % 64);
}

void DeviceMemory::ReleaseRun(size_t page) {
  Page& entry = pages_[page];
  const size_t pages = entry.pages;
  entry.use.store(PageUse::kFree, std::memory_order_release);
  starts_[page / 64] &= ~(uint64_t{1} << (page % 64));
  if (arena_.backed()) arena_.Discard(page, pages);
  tree_.MarkFree(page, pages);
  used_pages_.fetch_sub(pages, std::memory_order_relaxed);
}

bool DeviceMemory::StartOfRun(size_t page, size_t* start) const {
  size_t word = page / 64;
  uint64_t bits = starts_[word] & (~uint64_t{0} >> (63 - page % 64));
  while (bits == 0 && word > 0) bits = starts_[--word];
  if (bits == 0) return false;
  *start = word * 64 + 63 - static_cast<size_t>(__builtin_clzll(bits));
  return page < *start + pages_[*start].pages;
}

}  // namespace vramtrack::simcuda
