// SPDX-License-Identifier: Apache-2.0
//
// Tests that summary.proto describes the summaries.
#include <google/protobuf/unknown_field_set.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <iterator>
#include <string>

#include "analyzer/base/gzip.h"
#include "analyzer/ledger/testing/synthetic_trace.h"
#include "analyzer/summary/process_summary.h"
#include "analyzer/summary/schema_text.h"
#include "analyzer/summary/summary.h"
#include "analyzer/summary/summary.pb.h"

namespace vramtrack {
namespace {

TEST(Schema, IsWhatTheFieldsFunctionsSay) {
  std::ifstream file("analyzer/summary/summary.proto");
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  EXPECT_EQ(text, SummaryProto()) << "tools/bazel run //analyzer/summary:write_schema > analyzer/summary/summary.proto";
}

// Of fields of all messages within.
int UnknownFields(const google::protobuf::Message& message) {
  const google::protobuf::Reflection& reflection = *message.GetReflection();
  int unknown = reflection.GetUnknownFields(message).field_count();
  std::vector<const google::protobuf::FieldDescriptor*> fields;
  reflection.ListFields(message, &fields);
  for (const google::protobuf::FieldDescriptor* field : fields) {
    if (field->cpp_type() != google::protobuf::FieldDescriptor::CPPTYPE_MESSAGE) continue;
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

TEST(Schema, IsReadByStockProtobuf) {
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
    summary::Summary message;
    ASSERT_TRUE(message.ParseFromString(bytes));
    EXPECT_EQ(message.format(), "vramtrack summary");
    EXPECT_EQ(message.processes(), 1u);
    ASSERT_EQ(message.records_size(), 1);
    EXPECT_EQ(UnknownFields(message), 0);
    const summary::ProcessFindings& findings = message.records(0).record().process().findings();
    EXPECT_EQ(findings.process().pid(), process->findings.process.pid);
    ASSERT_EQ(findings.sites_size(), static_cast<int>(process->findings.sites.size()));
    for (int i = 0; i < findings.sites_size(); ++i) {
      EXPECT_EQ(findings.sites(i).bytes_allocated(), process->findings.sites[static_cast<size_t>(i)].bytes_allocated);
    }
    EXPECT_EQ(message.SerializeAsString(), bytes);
  }
}

}  // namespace
}  // namespace vramtrack
