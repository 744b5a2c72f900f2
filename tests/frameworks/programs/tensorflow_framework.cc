// SPDX-License-Identifier: Apache-2.0
#include "tests/frameworks/programs/tensorflow_framework.h"

namespace tsl {

uint64_t BFCAllocator::traced = 0, BFCAllocator::dumped = 0;

BFCAllocator::BFCAllocator(const std::string& name, void* memory, size_t bytes)
    : name_(name), memory_(static_cast<char*>(memory)), bytes_(bytes) {}
BFCAllocator::~BFCAllocator() = default;

#ifdef WITHOUT_NAME
std::string BFCAllocator::Title() { return name_; }
#else
std::string BFCAllocator::Name() { return name_; }
#endif

void* BFCAllocator::AllocateRaw(size_t bytes) {
  const std::lock_guard<std::mutex> guard(lock_);
  size_t rounded = (bytes + 255) / 256 * 256;
  void* block = nullptr;
  const auto free = free_.lower_bound(rounded);
  if (free != free_.end()) {
    rounded = free->first;
    block = free->second;
    free_.erase(free);
  } else if (used_ + rounded <= bytes_) {
    block = memory_ + used_;
    used_ += rounded;
  } else {
    DumpMemoryLog(rounded);
    return nullptr;
  }
  blocks_[block] = rounded;
  AddTraceMe("MemoryAllocation", block, static_cast<int64_t>(bytes), static_cast<int64_t>(rounded));
  return block;
}

void BFCAllocator::DeallocateRaw(void* block) {
  const std::lock_guard<std::mutex> guard(lock_);
  const auto found = blocks_.find(block);
  const size_t bytes = found->second;
  free_.emplace(bytes, block);
  blocks_.erase(found);
  AddTraceMe("MemoryDeallocation", block, static_cast<int64_t>(bytes), static_cast<int64_t>(bytes));
}

void BFCAllocator::AddTraceMe(std::string_view, const void*, int64_t, int64_t) { ++traced; }
void BFCAllocator::DumpMemoryLog(size_t) { ++dumped; }

}  // namespace tsl

extern "C" {
void TFE_Execute(TFE_Op* operation, void**, int* count, void*) {
  operation->run();
  *count = 0;
}
const char* TFE_OpGetName(const TFE_Op* operation, void*) { return operation->name.c_str(); }
}
