// SPDX-License-Identifier: Apache-2.0
//
// Tests the encoding of values with a reader written from the definition of the format. tests/export/tables_test.py
// reads whole files with readers of other projects.
#include "analyzer/export/table.h"

#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <string>
#include <vector>

#include "analyzer/export/parquet_encoding.h"

namespace vramtrack {
namespace {

class Reader {
 public:
  explicit Reader(const std::string& bytes) : bytes_(bytes) {}

  bool AtEnd() const { return at_ == bytes_.size(); }
  uint8_t Byte() { return static_cast<uint8_t>(bytes_.at(at_++)); }
  uint64_t Varint() {
    uint64_t value = 0;
    for (int shift = 0;; shift += 7) {
      const uint8_t byte = Byte();
      value |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  }
  uint64_t Little(int bytes) {
    uint64_t value = 0;
    for (int i = 0; i < bytes; ++i) value |= static_cast<uint64_t>(Byte()) << 8 * i;
    return value;
  }
  std::vector<uint64_t> Packed(size_t size, int width) {
    std::vector<uint64_t> values(size);
    for (size_t bit = 0; bit < size * width; ++bit) {
      const bool set = static_cast<uint8_t>(bytes_.at(at_ + bit / 8)) >> bit % 8 & 1;
      values[bit / width] |= static_cast<uint64_t>(set) << bit % width;
    }
    at_ += (size * width + 7) / 8;
    return values;
  }

 private:
  const std::string& bytes_;
  size_t at_ = 0;
};

std::vector<uint64_t> ReadRuns(const std::string& bytes, size_t size, int width) {
  Reader reader(bytes);
  std::vector<uint64_t> values;
  while (!reader.AtEnd()) {
    const uint64_t header = reader.Varint();
    if ((header & 1) == 0) {
      const uint64_t value = reader.Little((width + 7) / 8);
      values.insert(values.end(), header >> 1, value);
    } else {
      const std::vector<uint64_t> group = reader.Packed((header >> 1) * 8, width);
      values.insert(values.end(), group.begin(), group.end());
    }
  }
  EXPECT_GE(values.size(), size);
  EXPECT_LT(values.size(), size + 8);
  values.resize(size);
  return values;
}

TEST(ParquetEncoding, RunsAreReadAsTheyWere) {
  std::mt19937 random(7);
  for (int width = 0; width <= 32; ++width) {
    for (int turn = 0; turn < 40; ++turn) {
      std::vector<uint64_t> values;
      const uint64_t most = width == 0 ? 0 : UINT64_MAX >> (64 - width);
      while (values.size() < 300) {
        const size_t run = random() % 3 == 0 ? random() % 40 : 1;
        values.insert(values.end(), run, (uint64_t{random()} << 32 | random()) & most);
      }
      values.resize(random() % 300);
      std::string bytes;
      AppendRuns(values.data(), values.size(), width, &bytes);
      ASSERT_EQ(ReadRuns(bytes, values.size(), width), values) << width;
    }
  }
}

TEST(ParquetEncoding, EqualValuesTakeNextToNothing) {
  const std::vector<uint64_t> values(100000, 5);
  std::string bytes;
  AppendRuns(values.data(), values.size(), 3, &bytes);
  EXPECT_LE(bytes.size(), 5u);
}

TEST(ParquetEncoding, DictionaryIsGivenUpWhereItDoesNotPay) {
  std::vector<uint64_t> values;
  for (uint64_t i = 0; i < 1000; ++i) values.push_back(i * 4096 % 40960);
  const auto dictionary = MakeDictionary(values, 10);
  ASSERT_TRUE(dictionary);
  EXPECT_EQ(dictionary->entries.size(), 10u);
  for (size_t i = 0; i < values.size(); ++i) EXPECT_EQ(dictionary->entries[dictionary->indices[i]], values[i]);
  EXPECT_FALSE(MakeDictionary(values, 9));
  EXPECT_FALSE(MakeDictionary({1}, 0));
}

void AddRow(TableRows* rows, uint64_t number, const std::string& text) {
  rows->Add([&](TableRows* columns) {
    (*columns)("a", number);
    (*columns)("b", OrNull(text));
  });
}

TableRows Declared() {
  TableRows rows;
  AddRow(&rows, 0, "");
  return rows;
}

TEST(ParquetWriter, MemoryIsThatOfARowGroup) {
  uint64_t written = 0;
  TableRows rows = Declared();
  const std::unique_ptr<TableFormat> writer = MakeParquetWriter(rows.declared(), [&written](std::string_view piece) {
    written += piece.size();
    return true;
  });
  uint64_t before = 0;
  for (int group = 0; group < 3; ++group) {
    for (uint64_t i = 0; i < 1000; ++i) AddRow(&rows, i * i, i % 2 == 0 ? "" : "text");
    EXPECT_TRUE(writer->Write(rows));
    EXPECT_GT(written, before + 1000);  // not kept until the end
    before = written;
    rows.Clear();
  }
  writer->Finish();
}

TEST(ParquetWriter, StopsWhenNobodyReadsOn) {
  int pieces = 0;
  TableRows rows = Declared();
  const std::unique_ptr<TableFormat> writer =
      MakeParquetWriter(rows.declared(), [&pieces](std::string_view) { return ++pieces < 2; });
  AddRow(&rows, 1, "");
  EXPECT_FALSE(writer->Write(rows));
  EXPECT_FALSE(writer->Write(rows));
  writer->Finish();
  EXPECT_EQ(pieces, 2);
}

}  // namespace
}  // namespace vramtrack
