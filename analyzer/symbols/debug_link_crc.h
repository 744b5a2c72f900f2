// SPDX-License-Identifier: Apache-2.0

#ifndef ANALYZER_SYMBOLS_DEBUG_LINK_CRC_H_
#define ANALYZER_SYMBOLS_DEBUG_LINK_CRC_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace vramtrack {

// The checksum that .gnu_debuglink carries (CRC-32 of IEEE 802.3) of `bytes` that follow those summed up in `crc`.
uint32_t DebugLinkCrc(std::string_view bytes, uint32_t crc = 0);

// The checksum of a whole file; nothing if it cannot be read.
std::optional<uint32_t> DebugLinkCrcOfFile(const std::string& path);

}  // namespace vramtrack

#endif  // ANALYZER_SYMBOLS_DEBUG_LINK_CRC_H_
