// SPDX-License-Identifier: Apache-2.0

#include "analyzer/symbols/debug_link_crc.h"

#include <unistd.h>

#include <array>
#include <vector>

#include "absl/status/statusor.h"
#include "analyzer/base/input_file.h"

namespace vramtrack {
namespace {

std::array<uint32_t, 256> MakeTable() {
  constexpr uint32_t kReversedPolynomial = 0xedb88320;
  std::array<uint32_t, 256> table;
  for (uint32_t byte = 0; byte < table.size(); ++byte) {
    uint32_t value = byte;
    for (int bit = 0; bit < 8; ++bit) value = (value >> 1) ^ (value & 1 ? kReversedPolynomial : 0);
    table[byte] = value;
  }
  return table;
}

}  // namespace

uint32_t DebugLinkCrc(std::string_view bytes, uint32_t crc) {
  static const std::array<uint32_t, 256> table = MakeTable();
  crc = ~crc;
  for (unsigned char byte : bytes) crc = table[(crc ^ byte) & 0xff] ^ (crc >> 8);
  return ~crc;
}

std::optional<uint32_t> DebugLinkCrcOfFile(const std::string& path) {
  const absl::StatusOr<InputFile> file = InputFile::Open(path);
  if (!file.ok()) return std::nullopt;
  std::vector<char> buffer(1 << 16);
  uint32_t crc = 0;
  ssize_t count;
  while ((count = read(file->fd(), buffer.data(), buffer.size())) > 0) {
    crc = DebugLinkCrc({buffer.data(), static_cast<size_t>(count)}, crc);
  }
  if (count < 0) return std::nullopt;
  return crc;
}

}  // namespace vramtrack
