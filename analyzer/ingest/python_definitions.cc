// SPDX-License-Identifier: Apache-2.0
#include "analyzer/ingest/python_definitions.h"

#include <utility>
#include <vector>

#include "proto/schema_constants.h"

namespace vramtrack {

using protozero::pbf_reader;

void ReadCode(pbf_reader in, TracedCodes* codes) {
  namespace f = schema::code_field;
  uint32_t id = 0;
  TracedCode code;
  bool more_lines_only = true;
  while (in.next()) {
    if (in.tag() != f::id && in.tag() != f::lines) more_lines_only = false;
    switch (in.tag()) {
      case f::id:
        id = in.get_uint32();
        break;
      case f::name:
        code.name = in.get_bytes();
        break;
      case f::file:
        code.file = in.get_bytes();
        break;
      case f::first_line:
        code.first_line = in.get_uint32();
        break;
      case f::table:
        if (const uint32_t table = in.get_uint32(); table <= schema::LINES_LOCATIONS) {
          code.table = static_cast<schema::LineTable>(table);
        }
        break;
      case f::lines:
        code.lines += in.get_bytes();
        break;
      default:
        in.skip();
    }
  }
  if (more_lines_only) {
    codes->Append(id, code.lines);
  } else {
    codes->Define(id, std::move(code));
  }
}

void ReadPythonStack(pbf_reader in, TracedStacks* stacks) {
  namespace f = schema::pythonStack_field;
  uint32_t id = 0;
  bool truncated = false;
  std::vector<uint32_t> codes, instructions;
  const auto read = [&in](std::vector<uint32_t>* to) {
    if (in.wire_type() != protozero::pbf_wire_type::length_delimited) {
      to->push_back(in.get_uint32());  // one by one is as good as packed
      return;
    }
    for (const uint32_t value : in.get_packed_uint32()) to->push_back(value);
  };
  while (in.next()) {
    switch (in.tag()) {
      case f::id:
        id = in.get_uint32();
        break;
      case f::truncated:
        truncated = in.get_bool();
        break;
      case f::code:
        read(&codes);
        break;
      case f::instruction:
        read(&instructions);
        break;
      default:
        in.skip();
    }
  }
  if (codes.size() != instructions.size()) throw protozero::invalid_length_exception();
  stacks->DefinePython(id, codes, instructions, truncated);
}

void ReadJoinedStack(pbf_reader in, TracedStacks* stacks) {
  namespace f = schema::joinedStack_field;
  uint32_t id = 0, native = 0, python = 0, forward = 0, node = 0;
  while (in.next()) {
    switch (in.tag()) {
      case f::id:
        id = in.get_uint32();
        break;
      case f::native:
        native = in.get_uint32();
        break;
      case f::python:
        python = in.get_uint32();
        break;
      case f::forward:
        forward = in.get_uint32();
        break;
      case f::node:
        node = in.get_uint32();
        break;
      default:
        in.skip();
    }
  }
  if (node > schema::NODE_ACCUMULATE) node = schema::NODE_FUNCTION;  // a newer recorder's kind of node
  stacks->DefineJoined(id, native, python, forward, static_cast<schema::GraphNode>(node));
}

void ReadName(pbf_reader in, std::map<uint32_t, std::string>* names, std::map<uint32_t, uint32_t>* domains) {
  uint32_t id = 0, domain = 0;
  std::string text;
  while (in.next()) {
    switch (in.tag()) {
      case schema::name_field::id:
        id = in.get_uint32();
        break;
      case schema::name_field::text:
        text = in.get_bytes();
        break;
      case schema::name_field::domain:
        domain = in.get_uint32();
        break;
      default:
        in.skip();
    }
  }
  if (domain != 0) domains->emplace(id, domain);
  names->emplace(id, std::move(text));
}

}  // namespace vramtrack
