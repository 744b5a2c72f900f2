// SPDX-License-Identifier: Apache-2.0
//
// Finds the file that a mapped address belongs to. If a file is truncated while it is mapped, reading it raises SIGBUS.
// The signal handler uses this to name the file.
#ifndef ANALYZER_BASE_MAPPED_RANGE_H_
#define ANALYZER_BASE_MAPPED_RANGE_H_

#include <cstddef>
#include <memory>
#include <string>

namespace vramtrack {

// Registers a mapped range of memory for PathMappedAt, as long as the object lives. Movable. Thread-safe.
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

}  // namespace vramtrack

#endif  // ANALYZER_BASE_MAPPED_RANGE_H_
