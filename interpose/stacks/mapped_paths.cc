// SPDX-License-Identifier: Apache-2.0
#include "interpose/stacks/mapped_paths.h"

#include <cstring>

#include "interpose/base/hex.h"
#include "interpose/base/system_call.h"

namespace vramtrack {
namespace {

constexpr size_t kFirstCapacity = size_t{256} << 10;

}  // namespace

bool MappedPaths::Read() {
  const int fd = OpenForReading("/proc/self/maps");
  if (fd < 0) return false;
  for (;;) {
    if (bytes_ == capacity_) {
      const size_t capacity = capacity_ == 0 ? kFirstCapacity : 2 * capacity_;
      void* more = text_ == nullptr ? MapPrivate(capacity) : Remap(text_, capacity_, capacity);
      if (more == nullptr) break;
      text_ = static_cast<char*>(more);
      capacity_ = capacity;
    }
    const int64_t got = ReadSome(fd, text_ + bytes_, capacity_ - bytes_);
    if (got <= 0) break;
    bytes_ += static_cast<size_t>(got);
  }
  Close(fd);
  return bytes_ > 0;
}

bool MappedPaths::PathAt(uint64_t address, char* path, size_t capacity) {
  if (bytes_ == 0 && !Read()) return false;
  const char* const all = text_ + bytes_;
  for (const char* line = text_; line < all;) {
    const auto* end = static_cast<const char*>(std::memchr(line, '\n', static_cast<size_t>(all - line)));
    if (end == nullptr) return false;
    const char* at = line;
    line = end + 1;
    const uint64_t begin = ReadHex(&at, end);
    if (at == end || *at++ != '-' || address < begin || address >= ReadHex(&at, end)) continue;
    // Permissions, offset, device and inode come before the path, which may have blanks.
    for (int field = 0; field < 4; ++field) {
      while (at < end && *at == ' ') ++at;
      while (at < end && *at != ' ') ++at;
    }
    while (at < end && *at == ' ') ++at;
    const auto length = static_cast<size_t>(end - at);
    if (length == 0 || length >= capacity) return false;
    std::memcpy(path, at, length);
    path[length] = '\0';
    return true;
  }
  return false;
}

void MappedPaths::Forget() {
  if (text_ != nullptr) Unmap(text_, capacity_);
  text_ = nullptr;
  bytes_ = capacity_ = 0;
}

}  // namespace vramtrack
