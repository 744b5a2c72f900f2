// SPDX-License-Identifier: Apache-2.0

#ifndef ANALYZER_SYMBOLS_BUILD_ID_H_
#define ANALYZER_SYMBOLS_BUILD_ID_H_

#include <string>
#include <string_view>

namespace vramtrack {

// The lower-case hex digits of `bytes`.
std::string BuildIdToHex(std::string_view bytes);

// Lower-case hex of a build id given raw or as hex digits; empty stays empty.
std::string NormalizedBuildId(std::string_view raw_or_hex);

// "ab/cdef….debug": where below a .build-id folder the debug file of `hex` lies. Empty for ids of less than two bytes.
std::string BuildIdDebugPath(std::string_view hex);

}  // namespace vramtrack

#endif  // ANALYZER_SYMBOLS_BUILD_ID_H_
