// SPDX-License-Identifier: Apache-2.0
#ifndef INTERPOSE_RECORDER_FILE_SPACE_H_
#define INTERPOSE_RECORDER_FILE_SPACE_H_

#include <cstddef>
#include <cstdint>

namespace vramtrack {

// Which ranges of a file of bounded size are free, and which generation has taken the others. Only the bookkeeping: the
// caller keeps the file as this says. All offsets and lengths are multiples of kGranuleBytes. Zero-initialised memory
// is an empty one. Not thread-safe.
class FileSpace {
 public:
  // The beginning of a frame, up to its first sequence number, then never lies on both sides of a page's end: whoever
  // writes it is killed before or after, not in between.
  static constexpr uint64_t kGranuleBytes = 64;
  static constexpr uint64_t RoundUp(uint64_t bytes) {
    return (bytes + kGranuleBytes - 1) / kGranuleBytes * kGranuleBytes;
  }

  // The first of `origin` and the multiples of `alignment` after it that is not before `offset`.
  static uint64_t AlignedAfter(uint64_t offset, uint64_t origin, uint64_t alignment);

  struct Range {
    uint64_t begin, end;
  };

  // Makes a range free and returns the free range that it is a part of now.
  Range Add(uint64_t begin, uint64_t end);

  // Bytes of the largest free range, and of the one that ends at `end`.
  uint64_t largest() const;
  uint64_t FreeAtEnd(uint64_t end) const;

  // Takes the first `bytes` of the lowest free range that they fit into; `*rest` is what is left of that range. False
  // where they fit nowhere.
  bool Take(uint64_t bytes, uint32_t generation, uint64_t* offset, Range* rest);

  // Takes `bytes` that begin at `origin` or a multiple of `alignment` after it, for ever. `*before` and `*after`: what
  // is left of the range.
  bool TakeAligned(uint64_t bytes, uint64_t origin, uint64_t alignment, uint64_t* offset, Range* before, Range* after);

  // Frees what `generation` and those before it have taken; `on_free` is given each free range that came about.
  template <typename OnFree>
  void Release(uint32_t generation, OnFree on_free) {
    size_t kept = 0;
    for (size_t i = 0; i < taken_count_; ++i) {
      if (taken_[i].generation > generation) {
        taken_[kept++] = taken_[i];
      } else {
        on_free(Add(taken_[i].begin, taken_[i].end));
      }
    }
    taken_count_ = kept;
  }

 private:
  // More pieces than that do not come about: between two journals there are a few at most. Should they, room is wasted.
  static constexpr size_t kMaxRanges = 8192;

  struct Taken {
    uint64_t begin, end;
    uint32_t generation;
  };

  void Note(uint64_t begin, uint64_t end, uint32_t generation);
  void Remove(size_t index);

  size_t free_count_, taken_count_;
  Range free_[kMaxRanges];  // by offset; none touches the next
  Taken taken_[kMaxRanges];
};

}  // namespace vramtrack

#endif  // INTERPOSE_RECORDER_FILE_SPACE_H_
