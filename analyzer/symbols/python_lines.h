// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_SYMBOLS_PYTHON_LINES_H_
#define ANALYZER_SYMBOLS_PYTHON_LINES_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "proto/schema_constants.h"

namespace vramtrack {

// The lines of a Python code object's instructions, decoded from its line table. A damaged table gives wrong lines, but
// does no other harm. Thread-safe.
class PythonLines {
 public:
  // `bytes`: the content of CPython's co_lnotab or co_linetable. Memory is a few times their length.
  PythonLines(schema::LineTable format, std::string_view bytes, uint32_t first_line);

  // Returns the line of the instruction at `offset` bytes into the code; 0 if the table has none.
  uint32_t LineAt(uint32_t offset) const;

 private:
  struct Range {
    uint32_t start;  // the range ends where the next one starts
    uint32_t line;   // 0: none
  };

  void Add(uint64_t start, int64_t line);
  void ReadLnotab(std::string_view bytes, int64_t line);
  void ReadLinetable(std::string_view bytes, int64_t line);
  void ReadLocations(std::string_view bytes, int64_t line);

  std::vector<Range> ranges_;
};

}  // namespace vramtrack

#endif  // ANALYZER_SYMBOLS_PYTHON_LINES_H_
