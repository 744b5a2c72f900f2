// SPDX-License-Identifier: Apache-2.0
#include "analyzer/ingest/traced_stacks.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "analyzer/ingest/definitions.h"
#include "proto/message_writer.h"

namespace vramtrack {
namespace {

// In 3.10's format: two instructions each of lines 10, 11 and 12.
const char kLines[] = {4, 0, 4, 1, 4, 1};

std::string Encoded(const std::function<void(MessageWriter*)>& write) {
  std::string buffer(4096, '\0');
  MessageWriter out(reinterpret_cast<uint8_t*>(&buffer[0]), buffer.size());
  write(&out);
  return buffer.substr(0, out.size());
}

std::string Code(uint32_t id, const char* name, const std::string& lines) {
  return Encoded([&](MessageWriter* out) {
    uint8_t* message = out->Begin(schema::definitions_field::codes);
    out->Varint(schema::code_field::id, id);
    if (name != nullptr) {
      out->String(schema::code_field::name, name);
      out->String(schema::code_field::file, "train.py");
      out->Varint(schema::code_field::first_line, 10);
      out->Varint(schema::code_field::table, schema::LINES_LINETABLE);
    }
    out->Bytes(schema::code_field::lines, lines.data(), lines.size());
    out->End(message);
  });
}

std::string PythonStackMessage(uint32_t id, const std::vector<uint32_t>& codes,
                               const std::vector<uint32_t>& instructions) {
  return Encoded([&](MessageWriter* out) {
    uint8_t* message = out->Begin(schema::definitions_field::python_stacks);
    out->Varint(schema::pythonStack_field::id, id);
    uint8_t* column = out->Begin(schema::pythonStack_field::code);
    for (const uint32_t code : codes) out->RawVarint(code);
    out->End(column);
    column = out->Begin(schema::pythonStack_field::instruction);
    for (const uint32_t offset : instructions) out->RawVarint(offset);
    out->End(column);
    out->End(message);
  });
}

const std::string kTable(kLines, sizeof kLines);

TEST(TracedStacks, PythonFramesAreComparedByLine) {
  Definitions definitions;
  ASSERT_TRUE(definitions.Add(Code(1, "step", kTable)));
  ASSERT_TRUE(definitions.Add(PythonStackMessage(1, {1, 1}, {0, 4}) + PythonStackMessage(2, {1, 1}, {2, 6}) +
                              PythonStackMessage(3, {1, 1}, {4, 4})));
  definitions.Freeze();
  const TracedStacks& stacks = definitions.stacks;
  EXPECT_NE(stacks.Distinct(1), kEmptyStack);
  EXPECT_EQ(stacks.Distinct(1), stacks.Distinct(2));
  EXPECT_NE(stacks.Distinct(1), stacks.Distinct(3));
  const PythonStackRef stack = stacks.Get(stacks.Distinct(1)).python;
  ASSERT_EQ(stack.count, 2u);
  EXPECT_EQ(stack.frames[0].line, 10u);
  EXPECT_EQ(stack.frames[1].line, 11u);
  EXPECT_EQ(definitions.codes.Get(stack.frames[0].code).name, "step");
}

TEST(TracedStacks, AFunctionMadeAnewIsTheSamePlace) {
  Definitions definitions;
  definitions.Add(Code(1, "step", kTable));
  definitions.Add(Code(2, "step", kTable));
  definitions.Add(Code(3, "step", kTable + kTable));
  definitions.Add(PythonStackMessage(1, {1}, {0}) + PythonStackMessage(2, {2}, {0}) + PythonStackMessage(3, {3}, {0}));
  definitions.Freeze();
  EXPECT_EQ(definitions.stacks.Distinct(1), definitions.stacks.Distinct(2));
  EXPECT_NE(definitions.stacks.Distinct(1), definitions.stacks.Distinct(3));
}

TEST(TracedStacks, ALongTableComesInPieces) {
  Definitions definitions;
  definitions.Add(Code(1, nullptr, kTable));  // the piece before is missing
  definitions.Add(Code(1, "step", kTable.substr(0, 2)));
  definitions.Add(Code(1, nullptr, kTable.substr(2)));
  // The same again, as in a checkpoint.
  definitions.Add(Code(1, "step", kTable.substr(0, 2)));
  definitions.Add(Code(1, nullptr, kTable.substr(2)));
  definitions.Freeze();
  EXPECT_EQ(definitions.codes.Get(definitions.codes.Distinct(1)).lines, kTable);
  EXPECT_EQ(definitions.codes.LineAt(definitions.codes.Distinct(1), 8), 12u);
}

TEST(TracedStacks, JoinedStacksOfTheSamePartsAreOne) {
  Definitions definitions;
  TracedStacks& stacks = definitions.stacks;
  definitions.Add(Code(1, "step", kTable));
  const uint64_t native[] = {0x1000, 0x2000};
  stacks.Define(1, native, 2, 0, false);
  stacks.Define(2, native, 2, 0, false);
  stacks.DefinePython(3, {1}, {0}, false);
  stacks.DefinePython(4, {1}, {2}, false);
  stacks.DefineJoined(5, 1, 3, 0, schema::NODE_NONE);
  stacks.DefineJoined(6, 2, 4, 0, schema::NODE_NONE);
  stacks.DefineJoined(7, 1, 0, 3, schema::NODE_FUNCTION);
  stacks.DefineJoined(8, 1, 0, 0, schema::NODE_ACCUMULATE);
  stacks.DefineJoined(9, 2, 0, 0, schema::NODE_NONE);
  definitions.Freeze();
  EXPECT_EQ(stacks.Distinct(5), stacks.Distinct(6));
  EXPECT_EQ(stacks.Distinct(9), stacks.Distinct(1));
  EXPECT_NE(stacks.Distinct(7), stacks.Distinct(8));
  EXPECT_NE(stacks.Distinct(8), stacks.Distinct(1));
  const JoinedStackRef joined = stacks.Get(stacks.Distinct(6));
  EXPECT_EQ(joined.native.count, 2u);
  EXPECT_EQ(joined.python.count, 1u);
  EXPECT_EQ(joined.forward.count, 0u);
  EXPECT_EQ(stacks.Get(stacks.Distinct(7)).forward.count, 1u);
  EXPECT_EQ(stacks.Get(stacks.Distinct(7)).node, schema::NODE_FUNCTION);
  EXPECT_TRUE(stacks.IsPart(stacks.Distinct(1)));
  EXPECT_FALSE(stacks.IsPart(stacks.Distinct(5)));
}

// The first nodes of a process are evaluated before it is known how they are laid out.
TEST(TracedStacks, AForwardCallMayBeToldLater) {
  Definitions definitions;
  TracedStacks& stacks = definitions.stacks;
  definitions.Add(Code(1, "step", kTable));
  const uint64_t native[] = {0x1000, 0x2000};
  stacks.Define(1, native, 2, 0, false);
  stacks.DefineJoined(2, 1, 0, 10, schema::NODE_FUNCTION);
  stacks.DefineJoined(3, 1, 0, 11, schema::NODE_FUNCTION);
  stacks.DefineJoined(4, 1, 0, 12, schema::NODE_FUNCTION);
  stacks.DefinePython(5, {1}, {0}, false);
  stacks.DefineJoined(10, 0, 5, 0, schema::NODE_FUNCTION);
  stacks.DefineJoined(11, 0, 0, 0, schema::NODE_ACCUMULATE);
  stacks.DefineJoined(6, 1, 0, 5, schema::NODE_FUNCTION);
  definitions.Freeze();
  EXPECT_EQ(stacks.Distinct(2), stacks.Distinct(6)) << "as if it had been known at once";
  EXPECT_EQ(stacks.Get(stacks.Distinct(2)).forward.count, 1u);
  EXPECT_EQ(stacks.Get(stacks.Distinct(3)).node, schema::NODE_ACCUMULATE);
  EXPECT_EQ(stacks.Get(stacks.Distinct(3)).forward.count, 0u);
  EXPECT_EQ(stacks.Get(stacks.Distinct(4)).node, schema::NODE_FUNCTION) << "never told";
  EXPECT_EQ(stacks.Get(stacks.Distinct(4)).forward.count, 0u);
}

TEST(TracedStacks, WhatIsNotDefinedOrOfAnotherKindIsNoPart) {
  Definitions definitions;
  TracedStacks& stacks = definitions.stacks;
  const uint64_t native[] = {0x1000};
  stacks.Define(1, native, 1, 0, false);
  stacks.DefinePython(2, {77}, {0}, false);
  stacks.DefineJoined(3, 2, 1, 3, schema::NODE_NONE);
  stacks.DefineJoined(4, 1, 99, 0, schema::NODE_NONE);
  definitions.Freeze();
  EXPECT_EQ(stacks.Distinct(3), kEmptyStack);
  EXPECT_EQ(stacks.Distinct(4), stacks.Distinct(1));
  const PythonStackRef unknown = stacks.Get(stacks.Distinct(2)).python;
  ASSERT_EQ(unknown.count, 1u);
  EXPECT_EQ(definitions.codes.Get(unknown.frames[0].code).name, "");
  EXPECT_TRUE(stacks.Get(kEmptyStack).empty());
  EXPECT_TRUE(stacks.Get(StackIndex(1000)).empty());
}

TEST(TracedStacks, ColumnsOfDifferentLengthsAreDamage) {
  Definitions definitions;
  EXPECT_FALSE(definitions.Add(PythonStackMessage(1, {1, 1}, {0})));
  definitions.Freeze();
  EXPECT_FALSE(definitions.stacks.Defined(1));
}

TEST(Definitions, NamesAreKept) {
  Definitions definitions;
  definitions.Add(Encoded([](MessageWriter* out) {
    uint8_t* message = out->Begin(schema::definitions_field::names);
    out->Varint(schema::name_field::id, 4);
    out->String(schema::name_field::text, "Optimizer.step#AdamW.step");
    out->End(message);
  }));
  EXPECT_EQ(definitions.names.at(4), "Optimizer.step#AdamW.step");
}

}  // namespace
}  // namespace vramtrack
