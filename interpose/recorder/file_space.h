// SPDX-License-Identifier: Apache-2.0
#ifndef INTERPOSE_RECORDER_FILE_SPACE_H_
#define INTERPOSE_RECORDER_FILE_SPACE_H_

#include <cstddef>
#include <cstdint>

namespace vramtrack {

// Tracks which ranges of a file of bounded size are free, and which generation uses the others. It is only the
// accounting: the caller writes the file accordingly. All offsets and lengths are multiples of kGranuleBytes.
// Zero-initialised memory is an empty object. Not thread-safe.
class FileSpace {
 public:
  // With this alignment, the beginning of a frame (up to its first sequence number) never crosses a page boundary. A
  // process that is killed has then written all of it or nothing.
  static constexpr uint64_t kGranuleBytes = 64;
  static constexpr uint64_t RoundUp(uint64_t bytes) {
    return (bytes + kGranuleBytes - 1) / kGranuleBytes * kGranuleBytes;
  }

  // Returns `origin` or the first multiple of `alignment` after it that is not before `offset`.
  static uint64_t AlignedAfter(uint64_t offset, uint64_t origin, uint64_t alignment);

  struct Range {
    uint64_t begin, end;
  };

  // Frees a range and returns the free range that contains it now.
  Range Add(uint64_t begin, uint64_t end);

  // largest returns the bytes of the largest free range, FreeAtEnd those of the free range that ends at `end` (0 if
  // there is none).
  uint64_t largest() const;
  uint64_t FreeAtEnd(uint64_t end) const;

  // Takes the first `bytes` of the lowest free range that has room for them; `*rest` is the remainder of that range.
  // Returns false if no range is large enough.
  bool Take(uint64_t bytes, uint32_t generation, uint64_t* offset, Range* rest);

  // Takes `bytes` at `origin` or a multiple of `alignment` after it, permanently. `*before` and `*after` are the
  // remainders of the free range. Returns false if no range is large enough.
  bool TakeAligned(uint64_t bytes, uint64_t origin, uint64_t alignment, uint64_t* offset, Range* before, Range* after);

  // Frees the ranges of `generation` and of earlier ones, from `least` on; calls `on_free` with each free range that
  // results.
  template <typename OnFree>
  void Release(uint32_t generation, OnFree on_free, uint32_t least = 0) {
    size_t kept = 0;
    for (size_t i = 0; i < taken_count_; ++i) {
      if (taken_[i].generation > generation || taken_[i].generation < least) {
        taken_[kept++] = taken_[i];
      } else {
        on_free(Add(taken_[i].begin, taken_[i].end));
      }
    }
    taken_count_ = kept;
  }

 private:
  // More ranges than this do not occur in practice: there are at most a few between two journals. Beyond the limit,
  // space is wasted.
  static constexpr size_t kMaxRanges = 8192;

  struct Taken {
    uint64_t begin, end;
    uint32_t generation;
  };

  void Note(uint64_t begin, uint64_t end, uint32_t generation);
  void Remove(size_t index);

  size_t free_count_, taken_count_;
  Range free_[kMaxRanges];  // by offset; no two are adjacent
  Taken taken_[kMaxRanges];
};

}  // namespace vramtrack

#endif  // INTERPOSE_RECORDER_FILE_SPACE_H_
