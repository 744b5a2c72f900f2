// SPDX-License-Identifier: Apache-2.0
#include "interpose/recorder/file_space.h"

#include <cstring>

namespace vramtrack {

void FileSpace::Remove(size_t index) {
  std::memmove(free_ + index, free_ + index + 1, (free_count_ - index - 1) * sizeof free_[0]);
  --free_count_;
}

FileSpace::Range FileSpace::Add(uint64_t begin, uint64_t end) {
  size_t at = 0;
  while (at < free_count_ && free_[at].begin < begin) ++at;
  const bool joins_before = at > 0 && free_[at - 1].end == begin;
  const bool joins_after = at < free_count_ && free_[at].begin == end;
  if (joins_before && joins_after) {
    free_[at - 1].end = free_[at].end;
    Remove(at);
    return free_[at - 1];
  }
  if (joins_before) {
    free_[at - 1].end = end;
    return free_[at - 1];
  }
  if (joins_after) {
    free_[at].begin = begin;
    return free_[at];
  }
  if (free_count_ < kMaxRanges) {
    std::memmove(free_ + at + 1, free_ + at, (free_count_ - at) * sizeof free_[0]);
    ++free_count_;
    free_[at] = {begin, end};
  }
  return {begin, end};
}

uint64_t FileSpace::AlignedAfter(uint64_t offset, uint64_t origin, uint64_t alignment) {
  return offset <= origin ? origin : origin + (offset - origin + alignment - 1) / alignment * alignment;
}

uint64_t FileSpace::FreeAtEnd(uint64_t end) const {
  if (free_count_ == 0) return 0;
  const Range& last = free_[free_count_ - 1];
  return last.end == end ? last.end - last.begin : 0;
}

uint64_t FileSpace::largest() const {
  uint64_t most = 0;
  for (size_t i = 0; i < free_count_; ++i) {
    const uint64_t bytes = free_[i].end - free_[i].begin;
    if (bytes > most) most = bytes;
  }
  return most;
}

void FileSpace::Note(uint64_t begin, uint64_t end, uint32_t generation) {
  if (taken_count_ > 0) {
    Taken& last = taken_[taken_count_ - 1];
    if (last.generation == generation && last.end == begin) {
      last.end = end;
      return;
    }
  }
  if (taken_count_ < kMaxRanges) taken_[taken_count_++] = {begin, end, generation};
}

bool FileSpace::Take(uint64_t bytes, uint32_t generation, uint64_t* offset, Range* rest) {
  Range before;
  if (!TakeAligned(bytes, 0, kGranuleBytes, offset, &before, rest)) return false;
  Note(*offset, *offset + bytes, generation);
  return true;
}

bool FileSpace::TakeAligned(uint64_t bytes, uint64_t origin, uint64_t alignment, uint64_t* offset, Range* before,
                            Range* after) {
  for (size_t i = 0; i < free_count_; ++i) {
    const Range range = free_[i];
    const uint64_t begin = AlignedAfter(range.begin, origin, alignment);
    if (begin >= range.end || range.end - begin < bytes) continue;
    *offset = begin;
    *before = {range.begin, begin};
    *after = {begin + bytes, range.end};
    Remove(i);
    if (before->begin != before->end) Add(before->begin, before->end);
    if (after->begin != after->end) Add(after->begin, after->end);
    return true;
  }
  return false;
}

}  // namespace vramtrack
