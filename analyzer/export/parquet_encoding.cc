// SPDX-License-Identifier: Apache-2.0
#include "analyzer/export/parquet_encoding.h"

#include <cstring>

namespace vramtrack {
namespace {

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "words are copied as they are");

// Packs values one behind the other, the lowest bits first.
class BitPacker {
 public:
  explicit BitPacker(std::string* out) : out_(out) {}

  // `width`: 0 to 32, at least that of the value.
  void Add(uint64_t value, int width) {
    pending_ |= value << bits_;
    bits_ += width;
    if (bits_ < 32) return;
    out_->append(reinterpret_cast<const char*>(&pending_), 4);
    pending_ >>= 32;
    bits_ -= 32;
  }
  // Up to a whole byte.
  void Flush() {
    const int bytes = (bits_ + 7) / 8;
    out_->append(reinterpret_cast<const char*>(&pending_), bytes);
    pending_ = 0;
    bits_ = 0;
  }

 private:
  std::string* out_;
  uint64_t pending_ = 0;
  int bits_ = 0;
};

constexpr size_t kGroup = 8;

void AppendPackedGroups(const uint64_t* values, size_t size, int width, std::string* out) {
  if (size == 0) return;
  const size_t groups = (size + kGroup - 1) / kGroup;
  AppendVarint(groups << 1 | 1, out);
  BitPacker packer(out);
  for (size_t i = 0; i < groups * kGroup; ++i) packer.Add(i < size ? values[i] : 0, width);
  packer.Flush();
}

}  // namespace

void AppendPlain(const std::vector<uint64_t>& words, std::string* out) {
  out->append(reinterpret_cast<const char*>(words.data()), words.size() * sizeof(uint64_t));
}

void AppendTruths(const std::vector<uint64_t>& words, std::string* out) {
  BitPacker packer(out);
  for (const uint64_t word : words) packer.Add(word != 0, 1);
  packer.Flush();
}

void AppendRuns(const uint64_t* values, size_t size, int width, std::string* out) {
  size_t packed = 0;  // from here on nothing is written
  for (size_t i = 0; i < size;) {
    size_t end = i + 1;
    while (end < size && values[end] == values[i]) ++end;
    // Groups are whole: the run gives those before it what they lack.
    const size_t lacking = (kGroup - (i - packed) % kGroup) % kGroup;
    if (end - i >= kGroup + lacking) {
      AppendPackedGroups(values + packed, i + lacking - packed, width, out);
      AppendVarint((end - i - lacking) << 1, out);
      out->append(reinterpret_cast<const char*>(&values[i]), (width + 7) / 8);
      packed = end;
    }
    i = end;
  }
  AppendPackedGroups(values + packed, size - packed, width, out);
}

std::optional<WordDictionary> MakeDictionary(const std::vector<uint64_t>& words, size_t most) {
  if (most == 0) return std::nullopt;
  WordDictionary dictionary;
  dictionary.indices.resize(words.size());
  const int bits = BitWidth(most * 2);
  constexpr uint32_t kFree = UINT32_MAX;
  std::vector<uint32_t> table(size_t{1} << bits, kFree);
  for (size_t i = 0; i < words.size(); ++i) {
    const uint64_t word = words[i];
    if (i > 0 && word == words[i - 1]) {
      dictionary.indices[i] = dictionary.indices[i - 1];
      continue;
    }
    size_t at = word * 0x9e3779b97f4a7c15 >> (64 - bits);
    while (table[at] != kFree && dictionary.entries[table[at]] != word) at = (at + 1) & (table.size() - 1);
    if (table[at] == kFree) {
      if (dictionary.entries.size() == most) return std::nullopt;
      table[at] = static_cast<uint32_t>(dictionary.entries.size());
      dictionary.entries.push_back(word);
    }
    dictionary.indices[i] = table[at];
  }
  return dictionary;
}

}  // namespace vramtrack
