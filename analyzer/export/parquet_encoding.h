// SPDX-License-Identifier: Apache-2.0
//
// Values as Parquet packs them: apache/parquet-format, Encodings.md.
#ifndef ANALYZER_EXPORT_PARQUET_ENCODING_H_
#define ANALYZER_EXPORT_PARQUET_ENCODING_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace vramtrack {

// Bits that `value` needs.
inline int BitWidth(uint64_t value) { return value == 0 ? 0 : 64 - __builtin_clzll(value); }

// The lowest eight bytes of each, the lowest byte first.
void AppendPlain(const std::vector<uint64_t>& words, std::string* out);
// A bit each.
void AppendTruths(const std::vector<uint64_t>& words, std::string* out);
// Runs of equal values, and groups of eight that are packed with `width` (0 to 32) bits each. Values are at most 2^32
// - 1.
void AppendRuns(const uint64_t* values, size_t size, int width, std::string* out);

struct WordDictionary {
  std::vector<uint64_t> entries;  // in the order in which they come
  std::vector<uint64_t> indices;
};
// None if there are more than `most` distinct ones.
std::optional<WordDictionary> MakeDictionary(const std::vector<uint64_t>& words, size_t most);

}  // namespace vramtrack

#endif  // ANALYZER_EXPORT_PARQUET_ENCODING_H_
