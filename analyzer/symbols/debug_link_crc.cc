// SPDX-License-Identifier: Apache-2.0

#include "analyzer/symbols/debug_link_crc.h"

#include <array>
#include <cstdio>
#include <memory>
#include <vector>

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
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rbe"), &std::fclose);
  if (file == nullptr) return std::nullopt;
  std::vector<char> buffer(1 << 16);
  uint32_t crc = 0;
  while (size_t count = std::fread(buffer.data(), 1, buffer.size(), file.get())) {
    crc = DebugLinkCrc({buffer.data(), count}, crc);
  }
  if (std::ferror(file.get())) return std::nullopt;
  return crc;
}

}  // namespace vramtrack
