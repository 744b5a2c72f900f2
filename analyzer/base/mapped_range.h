// SPDX-License-Identifier: Apache-2.0
//
// What a handler of SIGBUS needs: reading a file raises it if the file is truncated while it is mapped.
#ifndef ANALYZER_BASE_MAPPED_RANGE_H_
#define ANALYZER_BASE_MAPPED_RANGE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace vramtrack {

// Registers a mapped range of memory for the functions below, as long as the object lives. Movable. Thread-safe.
class MappedRange {
 public:
  MappedRange() = default;
  MappedRange(const void* begin, size_t bytes, const std::string& path);
  MappedRange(MappedRange&& other) noexcept;
  MappedRange& operator=(MappedRange&& other) noexcept;
  MappedRange(const MappedRange&) = delete;
  MappedRange& operator=(const MappedRange&) = delete;
  ~MappedRange();

 private:
  std::unique_ptr<char[]> path_;
  int slot_ = -1;  // -1 if too many ranges are mapped at once
};

// Returns the path of the file that is mapped at `address`, or null if it is unknown. Async-signal-safe.
const char* PathMappedAt(const void* address);

// Puts zeros in place of a mapped file's lost end, from the page of `address` on, so that reading can go on. Returns
// false if the address is of no registered range. Async-signal-safe.
bool ReplaceLostEnd(const void* address);

// Returns how often the function above has put zeros in place of something. Who reads files that may be truncated
// compares this before and after, and must not use what was read if it has changed.
uint64_t ReplacedEnds();

}  // namespace vramtrack

#endif  // ANALYZER_BASE_MAPPED_RANGE_H_
