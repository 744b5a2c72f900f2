// SPDX-License-Identifier: Apache-2.0
//
// Which file a mapped address belongs to. If a file is truncated while it is mapped, reading it raises SIGBUS; the
// handler uses this to name the file.
#ifndef ANALYZER_BASE_MAPPED_RANGE_H_
#define ANALYZER_BASE_MAPPED_RANGE_H_

#include <cstddef>
#include <memory>
#include <string>

namespace vramtrack {

// As long as it lives, PathMappedAt knows the range. Movable. Thread-safe.
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
  int slot_ = -1;  // none where too many are mapped at once
};

// Null where it is not known. Async-signal-safe.
const char* PathMappedAt(const void* address);

}  // namespace vramtrack

#endif  // ANALYZER_BASE_MAPPED_RANGE_H_
