// SPDX-License-Identifier: Apache-2.0

#include "analyzer/symbols/build_id.h"

#include <algorithm>

namespace vramtrack {
namespace {

bool IsHexDigit(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

char ToLower(char c) { return c >= 'A' && c <= 'F' ? static_cast<char>(c - 'A' + 'a') : c; }

}  // namespace

std::string BuildIdToHex(std::string_view bytes) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string hex;
  hex.reserve(bytes.size() * 2);
  for (unsigned char byte : bytes) {
    hex.push_back(kDigits[byte >> 4]);
    hex.push_back(kDigits[byte & 15]);
  }
  return hex;
}

std::string NormalizedBuildId(std::string_view raw_or_hex) {
  // Raw ids have 8 bytes or more (usually 20), so that all of them are hex digits by chance does not happen.
  if (raw_or_hex.size() % 2 != 0 || !std::all_of(raw_or_hex.begin(), raw_or_hex.end(), IsHexDigit)) {
    return BuildIdToHex(raw_or_hex);
  }
  std::string hex(raw_or_hex);
  std::transform(hex.begin(), hex.end(), hex.begin(), ToLower);
  return hex;
}

std::string BuildIdDebugPath(std::string_view hex) {
  if (hex.size() < 4) return "";
  std::string path(hex.substr(0, 2));
  path.append("/").append(hex.substr(2)).append(".debug");
  return path;
}

}  // namespace vramtrack
