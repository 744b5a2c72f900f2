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

// A Python code object. Its texts may be any bytes.
struct TracedCode {
  std::string name, file;
  uint32_t first_line = 0;
  schema::LineTable table = schema::LINES_NONE;
  std::string lines;
};

// Maps the numbers of a trace's code objects to distinct code objects. A function that was created again from the same
// source has a new number in the trace, but is the same distinct code object. Define all, then call Freeze, then the
// accessors. Thread-safe after Freeze.
class TracedCodes {
 public:
  // Adds one message. A number that is defined twice keeps its first definition.
  void Define(uint32_t id, TracedCode code);
  // Appends a piece to the line table of the code object that was just defined with this number.
  void Append(uint32_t id, std::string_view lines);
  void Freeze();

  // Returns the index of the distinct code object; 0 for an undefined number.
  uint32_t Distinct(uint32_t id) const;
  // Returns a distinct code object; an empty one for 0. Valid as long as the table.
  const TracedCode& Get(uint32_t distinct) const { return entries_[distinct].code; }
  // Returns the line of the instruction at `offset` bytes; 0 if it has none.
  uint32_t LineAt(uint32_t distinct, uint32_t offset) const { return entries_[distinct].lines.LineAt(offset); }

 private:
  struct Entry {
    TracedCode code;
    PythonLines lines = PythonLines(schema::LINES_NONE, "", 0);
    uint32_t distinct = 0;       // index into entries_
    bool defined_again = false;  // appended pieces are then already known
  };

  std::unordered_map<uint32_t, uint32_t> by_id_;  // index into entries_
  std::vector<Entry> entries_ = std::vector<Entry>(1);
};

}  // namespace vramtrack

#endif  // ANALYZER_INGEST_TRACED_CODES_H_
