// SPDX-License-Identifier: Apache-2.0
//
// Which addresses of code objects may have been given out again.
//
// A function that is made, run and dropped again and again finds the same places free each time, for its code and for
// all that it has. Looking at the contents of every frame's code tells such functions apart, but costs four times what
// the rest of the walk does. So the interpreter's function that ends a code object is replaced by one that notes the
// address first, and contents are looked at where that has happened.
#ifndef INTERPOSE_PYTHON_CODE_DEATHS_H_
#define INTERPOSE_PYTHON_CODE_DEATHS_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "interpose/base/concurrent_table.h"
#include "interpose/python/frame_walk.h"
#include "interpose/python/interpreter.h"
#include "interpose/recorder/lane.h"

namespace vramtrack {

// One for the process: a forked child goes on with what its parent knew. Thread-safe. A set of bits, so an address may
// count as given out again that was not.
class CodeDeaths {
 public:
  // Before any frame of the interpreter is met, and again when its library may have been loaded anew. `slot` is below
  // kMaxInterpreters and that interpreter's. Where the function cannot be replaced all addresses count.
  static constexpr size_t kMaxInterpreters = 4;
  static void Watch(const Interpreter& interpreter, size_t slot);

  // Code that is recorded.
  static void Met(uint64_t code) { Set(met_, code); }
  static bool MayBeAnother(uint64_t code) {
    return (dead_[Word(code)].load(std::memory_order_relaxed) >> Bit(code) & 1) != 0;
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
  static void (*originals_[kMaxInterpreters])(void*);
};

// Numbers code objects. Thread-safe. Zero-initialised memory is an empty table.
class CodeTable {
 public:
  // The number of the frame's code object, at least 1; 0 where it could not be recorded. What is new is defined in
  // `lane` first: its names, file and table of lines are copied once. Two threads that meet it at the same moment may
  // define it twice, with different numbers. The frame is the calling thread's.
  uint32_t NumberOf(const PythonFrame& frame, const FrameOffsets& offsets, Lane* lane);

 private:
  bool Define(uint32_t id, uint64_t code, const FrameOffsets& offsets, Lane* lane);

  ConcurrentTable ids_;  // by address and fingerprint
  std::atomic<uint32_t> next_id_;
};

}  // namespace vramtrack

#endif  // INTERPOSE_PYTHON_CODE_DEATHS_H_
