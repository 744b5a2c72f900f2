// SPDX-License-Identifier: Apache-2.0
//
// Bytes as people read them: three digits that count, IEC units (as PyTorch prints them). One way to write them, so
// that a figure is the same wherever it is said.
#ifndef ANALYZER_BASE_BYTE_COUNT_H_
#define ANALYZER_BASE_BYTE_COUNT_H_

#include <string>

namespace vramtrack {

std::string FormatByteCount(double bytes);             // "4.00 MiB", "512 B", "-1.50 KiB"
std::string FormatByteRange(double low, double high);  // "3.99 to 4.01 MiB", "900 KiB to 1.20 MiB"

}  // namespace vramtrack

#endif  // ANALYZER_BASE_BYTE_COUNT_H_
