// SPDX-License-Identifier: Apache-2.0
#ifndef INTERPOSE_BASE_ROW_TABLE_H_
#define INTERPOSE_BASE_ROW_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "interpose/base/compact_table.h"
#include "interpose/base/growing_array.h"
#include "proto/hash.h"

namespace vramtrack {

// Distinct rows of plain data without padding, numbered from 1 in the order in which they were added. Zero-initialised
// memory is an empty table. Not thread-safe.
template <typename Row>
class RowTable {
 public:
  size_t size() const { return rows_.size(); }
  const Row& Get(uint32_t number) const { return rows_[number - 1]; }
  const GrowingArray<Row>& rows() const { return rows_; }

  // Returns the number of a row; 0 if it is not in the table.
  uint32_t Find(const Row& row) {
    uint64_t key;
    return Look(row, &key);
  }
  // Returns the number of a row, which is added if it is new; 0 if there is no memory.
  uint32_t FindOrAdd(const Row& row) {
    uint64_t key;
    if (const uint32_t number = Look(row, &key)) return number;
    uint32_t* number = rows_.Reserve(1) ? numbers_.Insert(key) : nullptr;
    if (number == nullptr) return 0;
    rows_.Add(row);
    return *number = static_cast<uint32_t>(rows_.size());
  }
  void Clear() {
    rows_.Clear();
    numbers_.Free();
  }
  // Empties the table and unmaps its memory.
  void Free() {
    rows_.Free();
    numbers_.Free();
  }

 private:
  static_assert(sizeof(Row) % sizeof(uint32_t) == 0, "the hash reads words");

  // `*key` is where the row is, or where it belongs.
  uint32_t Look(const Row& row, uint64_t* key) {
    uint32_t words[sizeof(Row) / sizeof(uint32_t)];
    std::memcpy(words, &row, sizeof row);
    *key = 0;
    for (const uint32_t word : words) *key = Mix(*key, word);
    for (*key |= 1;; *key = Mix(*key, 1) | 1) {
      const uint32_t* number = numbers_.Find(*key);
      if (number == nullptr) return 0;
      if (std::memcmp(&rows_[*number - 1], &row, sizeof row) == 0) return *number;
    }
  }

  GrowingArray<Row> rows_;
  CompactTable<uint32_t> numbers_;
};

}  // namespace vramtrack

#endif  // INTERPOSE_BASE_ROW_TABLE_H_
