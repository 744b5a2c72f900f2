// SPDX-License-Identifier: Apache-2.0
#include "interpose/python/code_deaths.h"

namespace vramtrack {
namespace {

// PyTypeObject.tp_dealloc, of all versions.
constexpr uint64_t kTypeDealloc = 48;

}  // namespace

std::atomic<uint64_t> CodeDeaths::met_[], CodeDeaths::dead_[];
void (*CodeDeaths::originals_[])(void*);

// Called with the interpreter's lock held, as the original is. It takes none.
template <size_t kSlot>
void CodeDeaths::Dealloc(void* code) {
  const auto address = reinterpret_cast<uint64_t>(code);
  if ((met_[Word(address)].load(std::memory_order_relaxed) >> Bit(address) & 1) != 0) Set(dead_, address);
  originals_[kSlot](code);
}

void CodeDeaths::Watch(const Interpreter& interpreter, size_t slot) {
  static constexpr void (*kReplacements[kMaxInterpreters])(void*) = {Dealloc<0>, Dealloc<1>, Dealloc<2>, Dealloc<3>};
  auto* place = reinterpret_cast<void (**)(void*)>(interpreter.code_type() + kTypeDealloc);
  void (*original)(void*) = __atomic_load_n(place, __ATOMIC_ACQUIRE);
  // A forked child finds its parent's.
  for (void (*replacement)(void*) : kReplacements) {
    if (original == replacement) return;
  }
  LoadedObject owner;
  const bool taken = slot >= kMaxInterpreters || (originals_[slot] != nullptr && originals_[slot] != original);
  if (taken || !FindLoadedObject(reinterpret_cast<const void*>(original), &owner) || !interpreter.IsIn(owner)) {
    for (std::atomic<uint64_t>& word : dead_) word.store(~uint64_t{0}, std::memory_order_relaxed);
    return;
  }
  originals_[slot] = original;
  __atomic_store_n(place, kReplacements[slot], __ATOMIC_RELEASE);
}

}  // namespace vramtrack
