// SPDX-License-Identifier: Apache-2.0
#include "interpose/hooks/real_entry.h"

#include <cstring>
#include <initializer_list>

#include "interpose/loader/loaded_object.h"

namespace vramtrack {

std::atomic<uint64_t> Providers::call_sites_[kCallSites];
std::atomic<void*> Providers::functions_[kMax][kEntryCount];
std::atomic<uint64_t> Providers::bases_[kMax];
std::atomic<uint32_t> Providers::unloading_, Providers::unloads_;

namespace {

struct Candidate {
  void* function = nullptr;
  uint64_t base = 0;
};

// In the order of the contract of Providers::Real:
//   a library behind ours that is not CUDA's own: another tool that was preloaded, which calls the next one itself;
//   the library that the caller names among those it needs;
//   the first one.
// A framework's functions are nobody else's, and its library stands anywhere: the first rule is not for them.
Candidate Choose(Entry entry, const void* caller) {
  const char* name = EntryName(entry);
  LoadedObject caller_object;
  const bool caller_known = caller != nullptr && FindLoadedObject(caller, &caller_object);
  Candidate first, before;
  const bool of_framework = IsOfFramework(entry);
  bool behind_us = of_framework;
  EachLoadedObject([&](const LoadedObject& object, size_t) {
    if (IsOwnObject(object)) {
      behind_us = true;
      return true;
    }
    void* function = object.Find(name);
    if (function == nullptr) return true;
    const Candidate candidate = {function, object.base()};
    if (!behind_us) {
      // Where we were loaded late, libraries of CUDA stand before us.
      if (before.function == nullptr && IsCudaLibrary(object.name())) before = candidate;
      return true;
    }
    const bool other_tool = first.function == nullptr && !of_framework && !IsCudaLibrary(object.name());
    if (first.function == nullptr) first = candidate;
    if (other_tool) return false;
    if (caller_known && (caller_object.Needs(object.name()) || caller_object.base() == object.base())) {
      first = candidate;
      return false;
    }
    return true;
  });
  return first.function != nullptr ? first : before;
}

}  // namespace

bool Providers::IsNeededBy(Entry entry, const void* caller) {
  LoadedObject calling;
  if (!FindLoadedObject(caller, &calling)) return false;
  bool needed = false;
  EachLoadedObject([&](const LoadedObject& object, size_t) {
    if (IsOwnObject(object) || object.Find(EntryName(entry)) == nullptr) return true;
    needed = object.base() == calling.base() || calling.Needs(object.name());
    return !needed;
  });
  return needed;
}

size_t Providers::Number(uint64_t base) {
  for (size_t i = 0; i < kMax; ++i) {
    uint64_t known = bases_[i].load(std::memory_order_acquire);
    if (known == base + 1) return i;
    if (known == 0 && (bases_[i].compare_exchange_strong(known, base + 1) || known == base + 1)) return i;
  }
  return kMax;
}

void* Providers::Find(Entry entry, const void* caller) {
  const uint32_t unloads = unloads_.load(std::memory_order_acquire);
  const Candidate found = Choose(entry, caller);
  if (found.function == nullptr || caller == nullptr || unloading_.load(std::memory_order_acquire) != 0) {
    return found.function;
  }
  const size_t number = Number(found.base);
  if (number == kMax) return found.function;
  functions_[number][static_cast<size_t>(entry)].store(found.function, std::memory_order_relaxed);
  const uint64_t site = reinterpret_cast<uint64_t>(caller) << 16;
  call_sites_[Slot(site)].store(site | number, std::memory_order_release);
  if (unloads_.load(std::memory_order_acquire) != unloads) {
    call_sites_[Slot(site)].store(0, std::memory_order_relaxed);
    functions_[number][static_cast<size_t>(entry)].store(nullptr, std::memory_order_relaxed);
  }
  return found.function;
}

void Providers::ForgetCallSites() {
  unloads_.fetch_add(1, std::memory_order_acq_rel);
  for (std::atomic<uint64_t>& site : call_sites_) {
    if (site.load(std::memory_order_relaxed) != 0) site.store(0, std::memory_order_relaxed);
  }
}

void Providers::BeforeUnload() {
  unloading_.fetch_add(1, std::memory_order_acq_rel);
  ForgetCallSites();
}

void Providers::AfterUnload() {
  bool loaded[kMax] = {};
  EachLoadedObject([&](const LoadedObject& object, size_t) {
    for (size_t i = 0; i < kMax; ++i) loaded[i] |= bases_[i].load(std::memory_order_acquire) == object.base() + 1;
    return true;
  });
  for (size_t i = 0; i < kMax; ++i) {
    if (loaded[i] || bases_[i].load(std::memory_order_acquire) == 0) continue;
    for (std::atomic<void*>& function : functions_[i]) function.store(nullptr, std::memory_order_relaxed);
    bases_[i].store(0, std::memory_order_release);
  }
  ForgetCallSites();
  unloading_.fetch_sub(1, std::memory_order_acq_rel);
}

int RuntimeMajor(const void* real) {
  LoadedObject runtime;
  if (!FindLoadedObject(real, &runtime) || strncmp(runtime.name(), "libcudart", 9) != 0) return 0;
  // "libcudart.so.13", or with a hash before the suffix as in old wheels.
  const char* suffix = strstr(runtime.name(), ".so.");
  if (suffix == nullptr) return 0;
  int major = 0;
  for (const char* c = suffix + 4; *c >= '0' && *c <= '9'; ++c) major = 10 * major + (*c - '0');
  return major;
}

bool IsCudaLibrary(const char* name) {
  for (const char* prefix : {"libcudart", "libcuda.so", "libcuda-", "libcuda_", "libnccl", "libcublas", "libcudnn",
                             "libcufft", "libcusolver", "libcusparse"}) {
    if (strncmp(name, prefix, strlen(prefix)) == 0) return true;
  }
  return false;
}

}  // namespace vramtrack
