// SPDX-License-Identifier: Apache-2.0
//
// What a trace says of Python stacks, read with stock protobuf, and what the interpreter itself said.
#ifndef TESTS_PYTHON_PYTHON_TRACE_H_
#define TESTS_PYTHON_PYTHON_TRACE_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "proto/trace.pb.h"

namespace vramtrack {

struct OraclePythonFrame {
  std::string name, file;
  uint32_t first_line = 0;
  int64_t instruction = 0;  // without the lowest bit; -1: not known
  bool entry = false;
};

struct TracedAllocation {
  std::vector<uint64_t> native;  // return addresses
  std::vector<OraclePythonFrame> python;
  bool joined = false, truncated = false;
};

struct PythonTrace {
  // Of allocations on the device: the first one of each size, and how many of it have a JoinedStack.
  std::map<uint64_t, TracedAllocation> by_bytes;
  std::map<uint64_t, uint64_t> joined_of_bytes;
  std::vector<format::Code> codes;  // with their whole tables, by first appearance
  std::vector<std::string> unseen;  // of reason UNSEEN_PYTHON
  std::vector<std::string> errors;  // references to what is not defined, columns of different lengths
};

PythonTrace ReadPythonTrace(const std::string& path);

// Compares all that is in the oracle's file with the trace. Returns a line for each difference, at most 20.
// `max_frames`: of the trace. `*frames`: compared ones.
std::vector<std::string> CompareWithOracle(const PythonTrace& trace, const std::string& expected_path,
                                           size_t max_frames, size_t* stacks, size_t* frames);

}  // namespace vramtrack

#endif  // TESTS_PYTHON_PYTHON_TRACE_H_
