// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_INGEST_TESTING_TEST_TRACE_H_
#define ANALYZER_INGEST_TESTING_TEST_TRACE_H_

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "analyzer/ingest/trace.h"

namespace vramtrack {

// A trace in memory with its bytes. The test fails if it cannot be read.
class TestTrace {
 public:
  explicit TestTrace(std::string bytes) : bytes_(std::move(bytes)) {
    absl::StatusOr<std::unique_ptr<Trace>> trace = Trace::Read(bytes_, "test.vtrace");
    EXPECT_TRUE(trace.ok()) << trace.status();
    if (trace.ok()) trace_ = *std::move(trace);
  }
  TestTrace(const TestTrace&) = delete;
  TestTrace& operator=(const TestTrace&) = delete;

  const Trace& operator*() const { return *trace_; }
  const Trace* operator->() const { return trace_.get(); }

 private:
  const std::string bytes_;
  std::unique_ptr<const Trace> trace_;
};

}  // namespace vramtrack

#endif  // ANALYZER_INGEST_TESTING_TEST_TRACE_H_
