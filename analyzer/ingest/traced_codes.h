// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_INGEST_TRACED_CODES_H_
#define ANALYZER_INGEST_TRACED_CODES_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "analyzer/symbols/python_lines.h"

namespace vramtrack {

// A Python code object. Its texts are whatever the program put there.
struct TracedCode {
  std::string name, file;
  uint32_t first_line = 0;
  schema::LineTable table = schema::LINES_NONE;
  std::string lines;
};

// The code objects of a trace by the number that the trace gave them, and as distinct ones: a function that was made
// anew from the same source is the same place to a reader. Add, Freeze, then ask: thread-safe from then on.
class TracedCodes {
 public:
  // One message. A number that is defined twice keeps its first definition.
  void Define(uint32_t id, TracedCode code);
  // A further piece of the table of what was defined just before under this number.
  void Append(uint32_t id, std::string_view lines);
  void Freeze();

  // 0 for a number that is not defined.
  uint32_t Distinct(uint32_t id) const;
  // The empty one for 0. Lives as long as the table.
  const TracedCode& Get(uint32_t distinct) const { return entries_[distinct].code; }
  // Of the instruction at `offset` bytes; 0 for none.
  uint32_t LineAt(uint32_t distinct, uint32_t offset) const { return entries_[distinct].lines.LineAt(offset); }

 private:
  struct Entry {
    TracedCode code;
    PythonLines lines = PythonLines(schema::LINES_NONE, "", 0);
    uint32_t distinct = 0;       // index into entries_
    bool defined_again = false;  // so what is appended is known already
  };

  std::unordered_map<uint32_t, uint32_t> by_id_;  // index into entries_
  std::vector<Entry> entries_ = std::vector<Entry>(1);
};

}  // namespace vramtrack

#endif  // ANALYZER_INGEST_TRACED_CODES_H_
