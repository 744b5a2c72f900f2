// SPDX-License-Identifier: Apache-2.0
//
// Parquet files (apache/parquet-format: README.md, Encodings.md, LogicalTypes.md, parquet.thrift). This is our own
// writer because Arrow's, the only one in C++ that is kept, is in none of Debian 12's packages, and would be many times
// as large as the program, which is to run on old machines without anything beside it. What it needs to write is a
// small part of the format, one that every reader knows: flat tables and lists of texts, data pages of the first
// version, gzip.
#ifndef ANALYZER_EXPORT_PARQUET_WRITER_H_
#define ANALYZER_EXPORT_PARQUET_WRITER_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/export/table_rows.h"

namespace vramtrack {

// Each call of Write() makes a row group, in which every column is one page with its least and greatest value, so that
// a reader can pass over it. Memory is that of the rows, and some bytes for each row group. Thread-compatible.
class ParquetWriter final : public TableFormat {
 public:
  // Takes a piece of the file. False: nobody reads on.
  using Sink = std::function<bool(std::string_view)>;

  ParquetWriter(std::vector<TableColumn> columns, Sink sink);

  bool Write(const TableRows& rows) override;
  void Finish() override;

 private:
  struct Chunk {
    uint64_t dictionary_offset = 0, data_offset = 0;  // the former 0: there is none
    uint64_t packed_bytes = 0, bytes = 0;             // with headers
    uint64_t values = 0, nulls = 0;
    int encoding = 0;
    bool gzip = false;
    std::string least, greatest;  // as PLAIN has them
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
  bool open_ = true;  // somebody reads
  uint64_t offset_ = 0, rows_ = 0;
  std::vector<RowGroup> groups_;
};

}  // namespace vramtrack

#endif  // ANALYZER_EXPORT_PARQUET_WRITER_H_
