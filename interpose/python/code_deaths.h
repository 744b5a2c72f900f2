// SPDX-License-Identifier: Apache-2.0
//
// Tracks which addresses of Python code objects may have been reused.
//
// A program that creates, runs and drops functions again and again gets the same addresses each time, for the code
// objects and for their parts. Hashing the contents of every frame's code object would distinguish them, but costs four
// times as much as the rest of the walk. Therefore the interpreter's deallocation function for code objects is replaced
// by one that first notes the address, and contents are hashed only for code objects at such addresses.
#ifndef INTERPOSE_PYTHON_CODE_DEATHS_H_
#define INTERPOSE_PYTHON_CODE_DEATHS_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "interpose/base/concurrent_table.h"
#include "interpose/python/frame_walk.h"
#include "interpose/python/interpreter.h"
#include "interpose/recorder/event_writer.h"

namespace vramtrack {

// The addresses at which code objects were recorded and deallocated. There is one set per process; a forked child keeps
// its parent's. Thread-safe. Addresses share bits, so an address may be reported as reused although it was not.
class CodeDeaths {
 public:
  // Replaces the interpreter's deallocation function. Call it before any frame of the interpreter is recorded, and
  // again when its library may have been reloaded. `slot` (< kMaxInterpreters) belongs to the interpreter. If the
  // function cannot be replaced, all addresses are reported as reused from then on.
  static constexpr size_t kMaxInterpreters = 4;
  static void Watch(const Interpreter& interpreter, size_t slot);

  // Notes that the code object at this address is recorded.
  static void Met(uint64_t code) { Set(met_, code); }
  // Returns how often recorded code objects were deallocated, if seen(). When the number has not changed, each address
  // that was recorded is still that of the same code object.
  static uint32_t count() { return count_.load(std::memory_order_relaxed); }
  // Returns whether each deallocation is noted.
  static bool seen() { return !unseen_.load(std::memory_order_relaxed); }
  // Returns whether a recorded code object at this address was deallocated, so that there may be another one now.
  static bool MayBeAnother(uint64_t code) {
    return !seen() || (dead_[Word(code)].load(std::memory_order_relaxed) >> Bit(code) & 1) != 0;
  }

 private:
  static constexpr int kBits = 16;

  static uint64_t Hash(uint64_t code) { return (code >> 4) * 0x9e3779b97f4a7c15 >> (64 - kBits); }
  static size_t Word(uint64_t code) { return Hash(code) / 64; }
  static unsigned Bit(uint64_t code) { return Hash(code) % 64; }
  static void Set(std::atomic<uint64_t>* bits, uint64_t code) {
    const uint64_t bit = uint64_t{1} << Bit(code);
    if ((bits[Word(code)].load(std::memory_order_relaxed) & bit) == 0) bits[Word(code)].fetch_or(bit);
  }
  template <size_t kSlot>
  static void Dealloc(void* code);

  static std::atomic<uint64_t> met_[(1 << kBits) / 64], dead_[(1 << kBits) / 64];
  static std::atomic<uint32_t> count_;
  static std::atomic<bool> unseen_;
  static void (*originals_[kMaxInterpreters])(void*);
};

// Assigns numbers to code objects. Thread-safe. Zero-initialised memory is an empty table.
class CodeTable {
 public:
  // Returns the number of the frame's code object, which is at least 1, or 0 if it could not be recorded. Defines a new
  // code object in `writer` first, with its names, file and line table. Two threads that find a new code object at the
  // same time may define it twice, with different numbers. The frame must belong to the calling thread.
  uint32_t NumberOf(const PythonFrame& frame, const FrameOffsets& offsets, EventWriter* writer);

 private:
  bool Define(uint32_t id, uint64_t code, const FrameOffsets& offsets, EventWriter* writer);

  ConcurrentTable ids_;  // keyed by address and fingerprint
  std::atomic<uint32_t> next_id_;
};

}  // namespace vramtrack

#endif  // INTERPOSE_PYTHON_CODE_DEATHS_H_
