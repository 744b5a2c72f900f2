// SPDX-License-Identifier: Apache-2.0
//
// A writer of Parquet files (apache/parquet-format: README.md, Encodings.md, LogicalTypes.md, parquet.thrift). We have
// our own because Arrow's, the only maintained one in C++, is not packaged in Debian 12 and is many times as large as
// the program, which must run on old machines without other packages. We need only a small part of the format that
// every reader supports: flat tables and lists of texts, data pages of version 1, gzip.
#include <algorithm>
#include <cstring>
#include <optional>
#include <type_traits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "analyzer/base/gzip.h"
#include "analyzer/export/parquet_encoding.h"
#include "analyzer/export/table.h"
#include "proto/tool_version.h"

namespace vramtrack {
namespace {

// Of parquet.thrift.
enum PhysicalType { kBoolean = 0, kInt64 = 2, kDouble = 5, kByteArray = 6 };
enum Repetition { kRequired = 0, kOptional = 1, kRepeated = 2 };
enum ConvertedType { kNotConverted = -1, kUtf8 = 0, kList = 3, kTimestampMicros = 10, kUint64 = 14 };
enum Encoding { kPlain = 0, kRle = 3, kRleDictionary = 8 };
enum Codec { kUncompressed = 0, kGzip = 2 };
enum PageType { kDataPage = 0, kDictionaryPage = 2 };
enum LogicalType { kString = 1, kListType = 3, kTimestamp = 8, kInteger = 10 };

constexpr char kParquetMagic[] = "PAR1";
constexpr size_t kMostDictionary = 1 << 15;
// Longer texts are left out of a column's bounds.
constexpr size_t kMostBoundBytes = 64;

void AppendText(std::string_view text, std::string* out) {
  const auto size = static_cast<uint32_t>(text.size());
  out->append(reinterpret_cast<const char*>(&size), sizeof size);
  out->append(text);
}

// Levels of one bit, their size first.
void AppendLevels(const std::vector<uint64_t>& levels, std::string* out) {
  std::string runs;
  AppendRuns(levels.data(), levels.size(), 1, &runs);
  AppendText(runs, out);
}

// Which rows have a value; of a list which of its values begin a row, and which rows have one at all.
void AppendAllLevels(const ColumnValues& column, size_t rows, std::string* out) {
  std::vector<uint64_t> defined;
  if (column.column().type == TableColumn::kTexts) {
    std::vector<uint64_t> repeated;
    for (const uint32_t length : column.lengths()) {
      repeated.push_back(0);
      defined.push_back(length > 0);
      for (uint32_t i = 1; i < length; ++i) {
        repeated.push_back(1);
        defined.push_back(1);
      }
    }
    AppendLevels(repeated, out);
  } else if (column.nulls() == 0) {
    defined.assign(rows, 1);
  } else {
    defined.assign(column.present().begin(), column.present().end());
  }
  AppendLevels(defined, out);
}

// The values of a page, and the dictionary that they are indices of.
struct EncodedValues {
  Encoding encoding = kPlain;
  std::string values, dictionary;
  size_t dictionary_entries = 0;

  void UseDictionary(const std::vector<uint64_t>& indices, size_t entries) {
    encoding = kRleDictionary;
    dictionary_entries = entries;
    const int width = BitWidth(entries - 1);
    values.push_back(static_cast<char>(width));
    AppendRuns(indices.data(), indices.size(), width, &values);
  }
};

EncodedValues Encode(const ColumnValues& column) {
  EncodedValues encoded;
  const std::vector<uint64_t>& words = column.words();
  if (words.empty()) return encoded;
  if (column.is_text()) {
    for (const std::string& symbol : column.symbols()) AppendText(symbol, &encoded.dictionary);
    encoded.UseDictionary(words, column.symbols().size());
  } else if (column.column().type == TableColumn::kTruth) {
    AppendTruths(words, &encoded.values);
  } else if (const auto dictionary = MakeDictionary(words, std::min(words.size() / 4, kMostDictionary))) {
    AppendPlain(dictionary->entries, &encoded.dictionary);
    encoded.UseDictionary(dictionary->indices, dictionary->entries.size());
  } else {
    AppendPlain(words, &encoded.values);
  }
  return encoded;
}

// The least and the greatest value, in PLAIN encoding.
struct Bounds {
  std::string least, greatest;
};

template <typename T>
std::string PlainOf(T value) {
  return std::string(reinterpret_cast<const char*>(&value), sizeof value);
}

template <typename T>
std::optional<Bounds> BoundsOfWords(const std::vector<uint64_t>& words) {
  if (words.empty()) return std::nullopt;
  const auto value = [](uint64_t word) {
    T typed;
    std::memcpy(&typed, &word, sizeof typed);
    return typed;
  };
  T low = value(words[0]), high = low;
  for (const uint64_t word : words) {
    const T one = value(word);
    if (one != one) return std::nullopt;  // not a number
    low = std::min(low, one);
    high = std::max(high, one);
  }
  if (std::is_floating_point<T>::value) {
    // Both zeros are within the range, whichever is there.
    if (low == 0) low = static_cast<T>(-0.0);
    if (high == 0) high = static_cast<T>(0.0);
  }
  return Bounds{PlainOf(low), PlainOf(high)};
}

// Returns nullopt where the values have no bounds that a reader can use.
std::optional<Bounds> BoundsOf(const ColumnValues& column) {
  switch (column.column().type) {
    case TableColumn::kText: {
      const auto& symbols = column.symbols();
      if (symbols.empty()) return std::nullopt;
      // By bytes, unsigned, as the format wants it and std::string does it.
      const auto [low, high] = std::minmax_element(symbols.begin(), symbols.end());
      if (low->size() > kMostBoundBytes || high->size() > kMostBoundBytes) return std::nullopt;
      return Bounds{*low, *high};
    }
    case TableColumn::kNumber:
      return BoundsOfWords<double>(column.words());
    case TableColumn::kUnsigned:
      return BoundsOfWords<uint64_t>(column.words());
    case TableColumn::kTexts:
    case TableColumn::kTruth:
      return std::nullopt;
    default:
      return BoundsOfWords<int64_t>(column.words());
  }
}

// Whether gzip makes it smaller by enough to be worth the time of readers and writers: tried on a part of it.
bool IsCompressible(const std::string& bytes) {
  constexpr size_t kSample = 1 << 13;
  if (bytes.size() < 64) return false;
  const std::string_view sample = std::string_view(bytes).substr(bytes.size() / 3, kSample);
  return Gzip(sample, GzipEffort::kFast).size() < sample.size() * 4 / 5;
}

std::string PageHeader(PageType type, size_t bytes, size_t packed_bytes, size_t values, Encoding encoding) {
  std::string header;
  ThriftWriter page(&header);
  page.I32(1, type);
  page.I32(2, static_cast<int32_t>(bytes));
  page.I32(3, static_cast<int32_t>(packed_bytes));
  page.Struct(type == kDataPage ? 5 : 7, [&](ThriftWriter& of_type) {
    of_type.I32(1, static_cast<int32_t>(values));
    of_type.I32(2, encoding);
    if (type != kDataPage) return;
    of_type.I32(3, kRle);
    of_type.I32(4, kRle);
  });
  page.End();
  return header;
}

PhysicalType PhysicalTypeOf(TableColumn::Type type) {
  switch (type) {
    case TableColumn::kNumber:
      return kDouble;
    case TableColumn::kTruth:
      return kBoolean;
    case TableColumn::kText:
    case TableColumn::kTexts:
      return kByteArray;
    default:
      return kInt64;
  }
}

// Fields of SchemaElement.
enum ElementField { kType = 1, kRepetition = 3, kName = 4, kChildren = 5, kConverted = 6, kLogical = 10 };

void WriteLogicalType(TableColumn::Type type, ThriftWriter& element) {
  switch (type) {
    case TableColumn::kText:
    case TableColumn::kTexts:
      element.I32(kConverted, kUtf8);
      element.Struct(kLogical, [](ThriftWriter& logical) { logical.EmptyStruct(kString); });
      break;
    case TableColumn::kUnsigned:
      element.I32(kConverted, kUint64);
      element.Struct(kLogical, [](ThriftWriter& logical) {
        logical.Struct(kInteger, [](ThriftWriter& integer) {
          integer.Byte(1, 64);
          integer.Bool(2, false);
        });
      });
      break;
    case TableColumn::kTime:
      element.I32(kConverted, kTimestampMicros);
      element.Struct(kLogical, [](ThriftWriter& logical) {
        logical.Struct(kTimestamp, [](ThriftWriter& timestamp) {
          timestamp.Bool(1, true);                                               // UTC
          timestamp.Struct(2, [](ThriftWriter& unit) { unit.EmptyStruct(2); });  // MICROS
        });
      });
      break;
    default:
      break;
  }
}

void WriteLeaf(const std::string& name, Repetition repetition, TableColumn::Type type, ThriftWriter& file) {
  file.Element([&](ThriftWriter& element) {
    element.I32(kType, PhysicalTypeOf(type));
    element.I32(kRepetition, repetition);
    element.Binary(kName, name);
    WriteLogicalType(type, element);
  });
}

// A node before what it contains.
void WriteSchema(const std::vector<TableColumn>& columns, ThriftWriter& file) {
  size_t nodes = 1;
  for (const TableColumn& column : columns) nodes += column.type == TableColumn::kTexts ? 3 : 1;
  file.Structs(2, nodes);
  file.Element([&](ThriftWriter& root) {
    root.Binary(kName, "schema");
    root.I32(kChildren, static_cast<int32_t>(columns.size()));
  });
  for (const TableColumn& column : columns) {
    if (column.type != TableColumn::kTexts) {
      WriteLeaf(column.name, column.nullable ? kOptional : kRequired, column.type, file);
      continue;
    }
    file.Element([&](ThriftWriter& element) {
      element.I32(kRepetition, kRequired);
      element.Binary(kName, column.name);
      element.I32(kChildren, 1);
      element.I32(kConverted, kList);
      element.Struct(kLogical, [](ThriftWriter& logical) { logical.EmptyStruct(kListType); });
    });
    file.Element([](ThriftWriter& list) {
      list.I32(kRepetition, kRepeated);
      list.Binary(kName, "list");
      list.I32(kChildren, 1);
    });
    WriteLeaf("element", kRequired, column.type, file);
  }
}

// The values of one column in one row group.
struct Chunk {
  uint64_t dictionary_offset = 0, data_offset = 0;  // dictionary_offset is 0 without a dictionary
  uint64_t packed_bytes = 0, bytes = 0;             // sizes with headers
  uint64_t values = 0, nulls = 0;
  Encoding encoding = kPlain;
  bool gzip = false;
  std::optional<Bounds> bounds;
};

void WriteChunk(const TableColumn& column, const Chunk& chunk, ThriftWriter& metadata) {
  std::vector<int32_t> encodings = {kRle, chunk.encoding};
  std::vector<std::string_view> path = {column.name};
  if (chunk.dictionary_offset != 0) encodings.insert(encodings.begin(), kPlain);
  if (column.type == TableColumn::kTexts) path.insert(path.end(), {"list", "element"});
  metadata.I32(1, PhysicalTypeOf(column.type));
  metadata.I32s(2, encodings);
  metadata.Binaries(3, path);
  metadata.I32(4, chunk.gzip ? kGzip : kUncompressed);
  metadata.I64(5, chunk.values);
  metadata.I64(6, chunk.bytes);
  metadata.I64(7, chunk.packed_bytes);
  metadata.I64(9, chunk.data_offset);
  if (chunk.dictionary_offset != 0) metadata.I64(11, chunk.dictionary_offset);
  metadata.Struct(12, [&chunk](ThriftWriter& statistics) {
    statistics.I64(3, chunk.nulls);
    if (!chunk.bounds) return;
    statistics.Binary(5, chunk.bounds->greatest);
    statistics.Binary(6, chunk.bounds->least);
    statistics.Bool(7, true);
    statistics.Bool(8, true);
  });
}

class ParquetWriter final : public TableFormat {
 public:
  ParquetWriter(const std::vector<TableColumn>& columns, ExportSink sink) : columns_(columns), sink_(std::move(sink)) {
    Emit(kParquetMagic);
  }

  bool Write(const TableRows& rows) override {
    if (rows.rows() == 0 || !open_) return open_;
    RowGroup& group = groups_.emplace_back();
    group.rows = rows.rows();
    for (const ColumnValues& column : rows.columns()) group.chunks.push_back(WriteColumn(column, rows.rows()));
    return open_;
  }

  void Finish() override {
    const std::string footer = Footer();
    Emit(footer);
    Emit(PlainOf(static_cast<uint32_t>(footer.size())));
    Emit(kParquetMagic);
  }

 private:
  struct RowGroup {
    uint64_t rows = 0;
    std::vector<Chunk> chunks;
  };

  void Emit(std::string_view bytes) {
    offset_ += bytes.size();
    open_ = open_ && sink_(bytes);
  }

  Chunk WriteColumn(const ColumnValues& column, size_t rows) {
    Chunk chunk;
    const bool is_list = column.column().type == TableColumn::kTexts;
    std::string body;
    if (is_list || column.column().nullable) AppendAllLevels(column, rows, &body);
    const EncodedValues encoded = Encode(column);
    body += encoded.values;
    // An empty list is a value that is not there.
    const auto empty = static_cast<size_t>(std::count(column.lengths().begin(), column.lengths().end(), 0u));
    chunk.nulls = is_list ? empty : column.nulls();
    chunk.values = column.words().size() + chunk.nulls;
    chunk.encoding = encoded.encoding;
    chunk.bounds = BoundsOf(column);
    chunk.gzip = IsCompressible(encoded.dictionary.size() > body.size() ? encoded.dictionary : body);
    const uint64_t begin = offset_;
    if (encoded.encoding == kRleDictionary) {
      chunk.dictionary_offset = offset_;
      WritePage(kDictionaryPage, encoded.dictionary, encoded.dictionary_entries, kPlain, &chunk);
    }
    chunk.data_offset = offset_;
    WritePage(kDataPage, body, chunk.values, encoded.encoding, &chunk);
    chunk.packed_bytes = offset_ - begin;
    return chunk;
  }

  void WritePage(PageType type, const std::string& bytes, size_t values, Encoding encoding, Chunk* chunk) {
    const std::string packed = chunk->gzip ? Gzip(bytes, GzipEffort::kFast) : bytes;
    const std::string header = PageHeader(type, bytes.size(), packed.size(), values, encoding);
    Emit(header);
    Emit(packed);
    chunk->bytes += header.size() + bytes.size();
  }

  void WriteRowGroup(const RowGroup& group, ThriftWriter& row_group) const {
    uint64_t bytes = 0, packed_bytes = 0;
    row_group.Structs(1, group.chunks.size());
    for (size_t i = 0; i < group.chunks.size(); ++i) {
      const Chunk& chunk = group.chunks[i];
      bytes += chunk.bytes;
      packed_bytes += chunk.packed_bytes;
      row_group.Element([&](ThriftWriter& column_chunk) {
        column_chunk.I64(2, 0);  // there is no second copy of the metadata
        column_chunk.Struct(3, [&](ThriftWriter& metadata) { WriteChunk(columns_[i], chunk, metadata); });
      });
    }
    row_group.I64(2, bytes);
    row_group.I64(3, group.rows);
    row_group.I64(6, packed_bytes);
  }

  std::string Footer() const {
    std::string footer;
    ThriftWriter file(&footer);
    file.I32(1, 2);  // the version of the format
    WriteSchema(columns_, file);
    uint64_t rows = 0;
    for (const RowGroup& group : groups_) rows += group.rows;
    file.I64(3, rows);
    file.Structs(4, groups_.size());
    for (const RowGroup& group : groups_) {
      file.Element([&](ThriftWriter& row_group) { WriteRowGroup(group, row_group); });
    }
    file.Binary(6, absl::StrCat("vramtrack version ", kToolVersion));
    // The order of each type, which makes least and greatest values meaningful.
    file.Structs(7, columns_.size());
    for (size_t i = 0; i < columns_.size(); ++i) file.Element([](ThriftWriter& order) { order.EmptyStruct(1); });
    file.End();
    return footer;
  }

  const std::vector<TableColumn> columns_;
  ExportSink sink_;
  bool open_ = true;  // the reader has not closed it
  uint64_t offset_ = 0;
  std::vector<RowGroup> groups_;
};

}  // namespace

std::unique_ptr<TableFormat> MakeParquetWriter(const std::vector<TableColumn>& columns, ExportSink sink) {
  return std::make_unique<ParquetWriter>(columns, std::move(sink));
}

}  // namespace vramtrack
