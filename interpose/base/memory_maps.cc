// SPDX-License-Identifier: Apache-2.0
#include "interpose/base/memory_maps.h"

#include <cstring>

#include "interpose/base/system_call.h"

namespace vramtrack {
namespace {

// Reads the lower-case hexadecimal digits at `*at`, and moves it past them.
uint64_t ReadHex(const char** at, const char* end) {
  uint64_t value = 0;
  for (; *at < end; ++*at) {
    const char c = **at;
    const int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
    if (digit < 0) break;
    value = value << 4 | static_cast<uint64_t>(digit);
  }
  return value;
}

}  // namespace

bool MemoryMaps::Read() {
  constexpr size_t kPiece = size_t{64} << 10;
  text_.Clear();
  const int fd = OpenForReading("/proc/self/maps");
  if (fd < 0) return false;
  while (text_.Reserve(kPiece)) {
    const int64_t got = ReadSome(fd, text_.data() + text_.size(), kPiece);
    if (got <= 0) break;
    text_.Extend(static_cast<size_t>(got));
  }
  Close(fd);
  return !empty();
}

// begin-end rwxp offset device inode      path
bool MemoryMaps::ReadLine(const char** line, Range* range) {
  const char* const all = text_.data() + text_.size();
  const char* at = *line;
  const auto* end =
      at == all ? nullptr : static_cast<const char*>(std::memchr(at, '\n', static_cast<size_t>(all - at)));
  if (end == nullptr) return false;
  *line = end + 1;
  *range = {};
  range->begin = ReadHex(&at, end);
  if (at < end) ++at;
  range->end = ReadHex(&at, end);
  if (end - at < 6) return true;
  range->readable = at[1] == 'r';
  range->writable = at[2] == 'w';
  // The path may have blanks.
  for (int field = 0; field < 4; ++field) {
    while (at < end && *at == ' ') ++at;
    while (at < end && *at != ' ') ++at;
  }
  while (at < end && *at == ' ') ++at;
  range->path = at;
  range->path_bytes = static_cast<size_t>(end - at);
  return true;
}

}  // namespace vramtrack
