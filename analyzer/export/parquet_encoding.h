// SPDX-License-Identifier: Apache-2.0
//
// Encodings of values in Parquet: apache/parquet-format, Encodings.md.
#ifndef ANALYZER_EXPORT_PARQUET_ENCODING_H_
#define ANALYZER_EXPORT_PARQUET_ENCODING_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace vramtrack {

// Returns the number of bits that `value` needs.
inline int BitWidth(uint64_t value) { return value == 0 ? 0 : 64 - __builtin_clzll(value); }

// Appends the eight bytes of each word, lowest byte first.
void AppendPlain(const std::vector<uint64_t>& words, std::string* out);
// Appends one bit for each word.
void AppendTruths(const std::vector<uint64_t>& words, std::string* out);
// Appends runs of equal values, and groups of eight values that are packed with `width` (0 to 32) bits each. Values are
// at most 2^32 - 1.
void AppendRuns(const uint64_t* values, size_t size, int width, std::string* out);

struct WordDictionary {
  std::vector<uint64_t> entries;  // in order of first occurrence
  std::vector<uint64_t> indices;
};
// Returns nullopt if there are more than `most` distinct values.
std::optional<WordDictionary> MakeDictionary(const std::vector<uint64_t>& words, size_t most);

}  // namespace vramtrack

#endif  // ANALYZER_EXPORT_PARQUET_ENCODING_H_
