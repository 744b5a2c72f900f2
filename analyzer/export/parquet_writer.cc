// SPDX-License-Identifier: Apache-2.0
#include "analyzer/export/parquet_writer.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <deque>
#include <optional>
#include <type_traits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "analyzer/base/gzip.h"
#include "analyzer/export/parquet_encoding.h"
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
// Longer texts are no bounds of a column.
constexpr size_t kMostBoundBytes = 64;

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
};

void AppendIndices(const std::vector<uint64_t>& indices, size_t entries, std::string* out) {
  const int width = BitWidth(entries - 1);
  out->push_back(static_cast<char>(width));
  AppendRuns(indices.data(), indices.size(), width, out);
}

EncodedValues EncodeTexts(const ColumnValues& column) {
  EncodedValues encoded;
  const auto& symbols = column.symbols();
  if (column.words().empty()) return encoded;
  encoded.encoding = kRleDictionary;
  for (const std::string& symbol : symbols) AppendText(symbol, &encoded.dictionary);
  encoded.dictionary_entries = symbols.size();
  AppendIndices(column.words(), symbols.size(), &encoded.values);
  return encoded;
}

EncodedValues EncodeWords(const ColumnValues& column) {
  EncodedValues encoded;
  const std::vector<uint64_t>& words = column.words();
  if (words.empty()) return encoded;
  if (column.column().type == TableColumn::kTruth) {
    AppendTruths(words, &encoded.values);
    return encoded;
  }
  if (const std::optional<WordDictionary> dictionary =
          MakeDictionary(words, std::min(words.size() / 4, kMostDictionary))) {
    encoded.encoding = kRleDictionary;
    AppendPlain(dictionary->entries, &encoded.dictionary);
    encoded.dictionary_entries = dictionary->entries.size();
    AppendIndices(dictionary->indices, dictionary->entries.size(), &encoded.values);
  } else {
    AppendPlain(words, &encoded.values);
  }
  return encoded;
}

template <typename T>
std::string PlainOf(T value) {
  return std::string(reinterpret_cast<const char*>(&value), sizeof value);
}

// Least and greatest value as PLAIN has them, if there are any that can be told apart.
template <typename T>
bool RangeOf(const std::vector<uint64_t>& words, std::string* least, std::string* greatest) {
  if (words.empty()) return false;
  const auto value = [](uint64_t word) {
    T typed;
    std::memcpy(&typed, &word, sizeof typed);
    return typed;
  };
  T low = value(words[0]), high = low;
  for (const uint64_t word : words) {
    const T one = value(word);
    if (one != one) return false;  // not a number
    low = std::min(low, one);
    high = std::max(high, one);
  }
  if (std::is_floating_point<T>::value) {
    // Both zeros are within the range, whichever is there.
    if (low == 0) low = static_cast<T>(-0.0);
    if (high == 0) high = static_cast<T>(0.0);
  }
  *least = PlainOf(low);
  *greatest = PlainOf(high);
  return true;
}

bool RangeOfTexts(const std::deque<std::string>& symbols, std::string* least, std::string* greatest) {
  if (symbols.empty()) return false;
  // By bytes, unsigned, as the format wants it and std::string does it.
  const auto [low, high] = std::minmax_element(symbols.begin(), symbols.end());
  if (low->size() > kMostBoundBytes || high->size() > kMostBoundBytes) return false;
  *least = *low;
  *greatest = *high;
  return true;
}

bool RangeOfColumn(const ColumnValues& column, std::string* least, std::string* greatest) {
  switch (column.column().type) {
    case TableColumn::kText:
      return RangeOfTexts(column.symbols(), least, greatest);
    case TableColumn::kNumber:
      return RangeOf<double>(column.words(), least, greatest);
    case TableColumn::kUnsigned:
      return RangeOf<uint64_t>(column.words(), least, greatest);
    case TableColumn::kTexts:
    case TableColumn::kTruth:
      return false;
    default:
      return RangeOf<int64_t>(column.words(), least, greatest);
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

void WriteLogicalType(TableColumn::Type type, ThriftWriter& element) {
  constexpr int kConverted = 6, kLogical = 10;
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

// SchemaElements: a node before what it contains.
struct SchemaNode {
  std::string name;
  const TableColumn* leaf = nullptr;  // null: a group
  int children = 0;
  std::optional<Repetition> repetition;  // none: the root
  bool list = false;
};

std::vector<SchemaNode> SchemaOf(const std::vector<TableColumn>& columns) {
  std::vector<SchemaNode> nodes = {{"schema", nullptr, static_cast<int>(columns.size()), std::nullopt}};
  for (const TableColumn& column : columns) {
    if (column.type == TableColumn::kTexts) {
      nodes.push_back({column.name, nullptr, 1, kRequired, true});
      nodes.push_back({"list", nullptr, 1, kRepeated});
      nodes.push_back({"element", &column, 0, kRequired});
    } else {
      nodes.push_back({column.name, &column, 0, column.nullable ? kOptional : kRequired});
    }
  }
  return nodes;
}

void WriteSchemaNode(const SchemaNode& node, ThriftWriter& element) {
  if (node.leaf != nullptr) element.I32(1, PhysicalTypeOf(node.leaf->type));
  if (node.repetition) element.I32(3, *node.repetition);
  element.Binary(4, node.name);
  if (node.leaf == nullptr) element.I32(5, node.children);
  if (node.list) {
    element.I32(6, kList);
    element.Struct(10, [](ThriftWriter& logical) { logical.EmptyStruct(kListType); });
  }
  if (node.leaf != nullptr) WriteLogicalType(node.leaf->type, element);
}

}  // namespace

ParquetWriter::ParquetWriter(std::vector<TableColumn> columns, Sink sink)
    : columns_(std::move(columns)), sink_(std::move(sink)) {
  Emit(kParquetMagic);
}

void ParquetWriter::Emit(std::string_view bytes) {
  offset_ += bytes.size();
  open_ = open_ && sink_(bytes);
}

ParquetWriter::Chunk ParquetWriter::WriteColumn(const ColumnValues& column, size_t rows) {
  Chunk chunk;
  const bool is_list = column.column().type == TableColumn::kTexts;
  std::string body;
  if (is_list || column.column().nullable) AppendAllLevels(column, rows, &body);
  EncodedValues encoded = column.is_text() ? EncodeTexts(column) : EncodeWords(column);
  body += encoded.values;
  // An empty list is a value that is not there.
  const auto empty = static_cast<size_t>(std::count(column.lengths().begin(), column.lengths().end(), 0u));
  chunk.nulls = is_list ? empty : column.nulls();
  chunk.values = column.words().size() + chunk.nulls;
  chunk.encoding = encoded.encoding;
  chunk.has_range = RangeOfColumn(column, &chunk.least, &chunk.greatest);
  chunk.gzip = IsCompressible(encoded.dictionary.size() > body.size() ? encoded.dictionary : body);
  const uint64_t begin = offset_;
  const auto write = [&](PageType type, const std::string& bytes, size_t values, Encoding encoding) {
    const std::string packed = chunk.gzip ? Gzip(bytes, GzipEffort::kFast) : bytes;
    const std::string header = PageHeader(type, bytes.size(), packed.size(), values, encoding);
    Emit(header);
    Emit(packed);
    chunk.bytes += header.size() + bytes.size();
  };
  if (encoded.encoding == kRleDictionary) {
    chunk.dictionary_offset = offset_;
    write(kDictionaryPage, encoded.dictionary, encoded.dictionary_entries, kPlain);
  }
  chunk.data_offset = offset_;
  write(kDataPage, body, chunk.values, encoded.encoding);
  chunk.packed_bytes = offset_ - begin;
  return chunk;
}

bool ParquetWriter::Write(const TableRows& rows) {
  if (rows.rows == 0 || !open_) return open_;
  RowGroup group;
  group.rows = rows.rows;
  for (const ColumnValues& column : rows.columns) group.chunks.push_back(WriteColumn(column, rows.rows));
  rows_ += rows.rows;
  groups_.push_back(std::move(group));
  return open_;
}

std::string ParquetWriter::Footer() const {
  std::string footer;
  ThriftWriter file(&footer);
  const std::vector<SchemaNode> schema = SchemaOf(columns_);
  file.I32(1, 2);  // the version of the format
  file.Structs(2, schema.size(), [&](ThriftWriter& element, size_t i) { WriteSchemaNode(schema[i], element); });
  file.I64(3, static_cast<int64_t>(rows_));
  file.Structs(4, groups_.size(), [&](ThriftWriter& row_group, size_t g) {
    const RowGroup& group = groups_[g];
    uint64_t bytes = 0, packed_bytes = 0;
    for (const Chunk& chunk : group.chunks) {
      bytes += chunk.bytes;
      packed_bytes += chunk.packed_bytes;
    }
    row_group.Structs(1, group.chunks.size(), [&](ThriftWriter& column_chunk, size_t c) {
      const Chunk& chunk = group.chunks[c];
      column_chunk.I64(2, 0);  // there is no second copy of the metadata
      column_chunk.Struct(3, [&](ThriftWriter& column) {
        column.I32(1, PhysicalTypeOf(columns_[c].type));
        if (chunk.dictionary_offset != 0) {
          column.I32s(2, {kPlain, kRle, chunk.encoding});
        } else {
          column.I32s(2, {kRle, chunk.encoding});
        }
        if (columns_[c].type == TableColumn::kTexts) {
          column.Binaries(3, {columns_[c].name, "list", "element"});
        } else {
          column.Binaries(3, {columns_[c].name});
        }
        column.I32(4, chunk.gzip ? kGzip : kUncompressed);
        column.I64(5, static_cast<int64_t>(chunk.values));
        column.I64(6, static_cast<int64_t>(chunk.bytes));
        column.I64(7, static_cast<int64_t>(chunk.packed_bytes));
        column.I64(9, static_cast<int64_t>(chunk.data_offset));
        if (chunk.dictionary_offset != 0) column.I64(11, static_cast<int64_t>(chunk.dictionary_offset));
        column.Struct(12, [&](ThriftWriter& statistics) {
          statistics.I64(3, static_cast<int64_t>(chunk.nulls));
          if (!chunk.has_range) return;
          statistics.Binary(5, chunk.greatest);
          statistics.Binary(6, chunk.least);
          statistics.Bool(7, true);
          statistics.Bool(8, true);
        });
      });
    });
    row_group.I64(2, static_cast<int64_t>(bytes));
    row_group.I64(3, static_cast<int64_t>(group.rows));
    row_group.I64(6, static_cast<int64_t>(packed_bytes));
  });
  file.Binary(6, absl::StrCat("vramtrack version ", kToolVersion));
  // The order of each type, which makes least and greatest values meaningful.
  file.Structs(7, columns_.size(), [](ThriftWriter& order, size_t) { order.EmptyStruct(1); });
  file.End();
  return footer;
}

void ParquetWriter::Finish() {
  const std::string footer = Footer();
  const auto size = static_cast<uint32_t>(footer.size());
  Emit(footer);
  Emit(std::string_view(reinterpret_cast<const char*>(&size), sizeof size));
  Emit(kParquetMagic);
}

}  // namespace vramtrack
