// SPDX-License-Identifier: Apache-2.0
//
// Formats numbers for people: three significant digits, commas.
#ifndef ANALYZER_BASE_QUANTITY_H_
#define ANALYZER_BASE_QUANTITY_H_

#include <cstdint>
#include <string>

namespace vramtrack {

std::string FormatCount(uint64_t count);  // "12,345"
std::string FormatAbout(double number);   // "19,400", "3.5", "0.02", "2.1e+12"
// "full in 19,400 steps", "full already"; empty if `steps` is not finite.
std::string FormatTimeToFull(double steps);
std::string FormatPercent(double share);    // 0.4 is "40 %"
std::string FormatSeconds(double seconds);  // "5.1 ms", "0.42 s", "3 min 20 s", "5 h 12 min"
// Returns "1 step", "2 steps".
std::string Plural(uint64_t count, const std::string& one, const std::string& several);

// Bytes have three significant digits and IEC units, as PyTorch prints them. All output uses these functions, so that a
// figure looks the same everywhere.
std::string FormatByteCount(double bytes);  // "4.00 MiB", "512 B", "-1.50 KiB"
inline std::string BytesText(uint64_t bytes) { return FormatByteCount(static_cast<double>(bytes)); }
std::string FormatByteRange(double low, double high);  // "3.99 to 4.01 MiB", "900 KiB to 1.20 MiB"
// "95 % CI 3.99 to 4.01 MiB"; empty if both ends look alike, because such an interval says nothing.
std::string FormatByteInterval(double low, double high);

}  // namespace vramtrack

#endif  // ANALYZER_BASE_QUANTITY_H_
