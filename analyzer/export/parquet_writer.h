// SPDX-License-Identifier: Apache-2.0
//
// A writer of Parquet files (apache/parquet-format: README.md, Encodings.md, LogicalTypes.md, parquet.thrift). We have
// our own because Arrow's, the only maintained one in C++, is not packaged in Debian 12 and is many times as large as
// the program, which must run on old machines without other packages. We need only a small part of the format that
// every reader supports: flat tables and lists of texts, data pages of version 1, gzip.
#ifndef ANALYZER_EXPORT_PARQUET_WRITER_H_
#define ANALYZER_EXPORT_PARQUET_WRITER_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/export/table_writer.h"

namespace vramtrack {

// Writes a Parquet file. Each call of Write() makes a row group, in which every column is one page with its minimum and
// maximum, so that a reader can skip it. Memory is bounded by the rows, plus some bytes for each row group.
// Thread-compatible.
class ParquetWriter final : public TableFormat {
 public:
  // Receives a piece of the file. Returns false if the reader has closed it.
  using Sink = std::function<bool(std::string_view)>;

  ParquetWriter(std::vector<TableColumn> columns, Sink sink);

  bool Write(const TableRows& rows) override;
  void Finish() override;

 private:
  struct Chunk {
    uint64_t dictionary_offset = 0, data_offset = 0;  // dictionary_offset is 0 without a dictionary
    uint64_t packed_bytes = 0, bytes = 0;             // sizes with headers
    uint64_t values = 0, nulls = 0;
    int encoding = 0;
    bool gzip = false;
    std::string least, greatest;  // in PLAIN encoding
    bool has_range = false;
  };
  struct RowGroup {
    uint64_t rows = 0;
    std::vector<Chunk> chunks;
  };

  Chunk WriteColumn(const ColumnValues& column, size_t rows);
  void Emit(std::string_view bytes);
  std::string Footer() const;

  std::vector<TableColumn> columns_;
  Sink sink_;
  bool open_ = true;  // the reader has not closed it
  uint64_t offset_ = 0, rows_ = 0;
  std::vector<RowGroup> groups_;
};

}  // namespace vramtrack

#endif  // ANALYZER_EXPORT_PARQUET_WRITER_H_
