// SPDX-License-Identifier: Apache-2.0
//
// Tests that summary.proto describes the summaries.
#include <google/protobuf/descriptor.pb.h>
#include <google/protobuf/dynamic_message.h>
#include <google/protobuf/unknown_field_set.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "analyzer/base/gzip.h"
#include "analyzer/ledger/testing/synthetic_trace.h"
#include "analyzer/summary/process_summary.h"
#include "analyzer/summary/schema_text.h"
#include "analyzer/summary/summary.h"

namespace vramtrack {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

std::string FileBytes(const char* path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

TEST(Schema, IsWhatTheFieldsFunctionsSay) {
  EXPECT_EQ(FileBytes("analyzer/summary/summary.proto"), SummaryProto())
      << "tools/bazel run //analyzer/summary:write_schema > analyzer/summary/summary.proto";
}

// Of fields of all messages within.
int UnknownFields(const Message& message) {
  const google::protobuf::Reflection& reflection = *message.GetReflection();
  int unknown = reflection.GetUnknownFields(message).field_count();
  std::vector<const FieldDescriptor*> fields;
  reflection.ListFields(message, &fields);
  for (const FieldDescriptor* field : fields) {
    if (field->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) continue;
    if (!field->is_repeated()) {
      unknown += UnknownFields(reflection.GetMessage(message, field));
      continue;
    }
    for (int i = 0; i < reflection.FieldSize(message, field); ++i) {
      unknown += UnknownFields(reflection.GetRepeatedMessage(message, field, i));
    }
  }
  return unknown;
}

// A field of a message, by its name.
struct Field {
  const Message& message;
  const FieldDescriptor* field;
  const google::protobuf::Reflection& reflection = *message.GetReflection();

  std::string AsString() const { return reflection.GetString(message, field); }
  uint64_t AsNumber() const {
    return field->cpp_type() == FieldDescriptor::CPPTYPE_UINT64
               ? reflection.GetUInt64(message, field)
               : static_cast<uint64_t>(reflection.GetInt64(message, field));
  }
  int size() const { return reflection.FieldSize(message, field); }
  const Message& operator[](int i) const { return reflection.GetRepeatedMessage(message, field, i); }
  operator const Message&() const { return reflection.GetMessage(message, field); }
};

Field In(const Message& message, const char* name) { return {message, message.GetDescriptor()->FindFieldByName(name)}; }

TEST(Schema, IsReadByStockProtobuf) {
  google::protobuf::FileDescriptorSet schema;
  ASSERT_TRUE(schema.ParseFromString(FileBytes("analyzer/summary/summary.binpb")));
  ASSERT_EQ(schema.file_size(), 1);
  google::protobuf::DescriptorPool pool;
  const google::protobuf::FileDescriptor* const file = pool.BuildFile(schema.file(0));
  ASSERT_NE(file, nullptr);
  google::protobuf::DynamicMessageFactory factory(&pool);
  const Message* const empty = factory.GetPrototype(file->FindMessageTypeByName("Summary"));
  for (const SyntheticShape shape : {SyntheticShape::kDriver, SyntheticShape::kPyTorch}) {
    const std::string path = ::testing::TempDir() + "/schema." + std::to_string(getpid());
    SyntheticTrace wanted;
    wanted.shape = shape;
    wanted.events = 20000;
    ASSERT_TRUE(WriteSyntheticTrace(path, wanted));
    const absl::StatusOr<ProcessSummary> process = SummarizeProcess(path, {});
    unlink(path.c_str());
    ASSERT_TRUE(process.ok());
    Summary summary;
    summary.Add(*process);
    const std::string bytes = Gunzip(summary.Write(), 1 << 30).bytes;
    const std::unique_ptr<Message> message(empty->New());
    ASSERT_TRUE(message->ParseFromString(bytes));
    EXPECT_EQ(In(*message, "format").AsString(), "vramtrack summary");
    EXPECT_EQ(In(*message, "processes").AsNumber(), 1u);
    ASSERT_EQ(In(*message, "records").size(), 1);
    EXPECT_EQ(UnknownFields(*message), 0);
    const Message& findings = In(In(In(In(*message, "records")[0], "record"), "process"), "findings");
    EXPECT_EQ(In(In(findings, "process"), "pid").AsNumber(), static_cast<uint64_t>(process->findings.process.pid));
    const Field sites = In(findings, "sites");
    ASSERT_EQ(sites.size(), static_cast<int>(process->findings.sites.size()));
    for (int i = 0; i < sites.size(); ++i) {
      EXPECT_EQ(In(sites[i], "bytes_allocated").AsNumber(),
                process->findings.sites[static_cast<size_t>(i)].bytes_allocated);
    }
    EXPECT_EQ(message->SerializeAsString(), bytes);
  }
}

}  // namespace
}  // namespace vramtrack
