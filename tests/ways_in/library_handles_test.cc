// SPDX-License-Identifier: Apache-2.0
//
// Handles of libraries are counted, and the memory that a library takes for them is its own.
#include <gtest/gtest.h>

#include "analyzer/attribution/stack_symbolizer.h"
#include "tests/preload/traced_run.h"
#include "tests/ways_in/counts.h"

namespace vramtrack {
namespace {

TEST(LibraryHandlesTest, AreCountedOnceAndTheirMemoryIsTheLibrarys) {
  const RunResult run = RunProgram("library_handles", {});
  ASSERT_EQ(run.wait_status, 0) << run.out << run.err;
  ASSERT_EQ(run.traces.size(), 1u);
  ByKind traced = Traced(run.traces[0]);
  for (const auto& [kind, counts] : Printed(run.out)) EXPECT_EQ(traced[kind], counts) << kind;
  EXPECT_EQ(traced["blas_handle"].allocations - traced["blas_handle"].frees, 1u) << "the leaked one";

  auto trace = Trace::Open(run.traces[0]);
  ASSERT_TRUE(trace.ok());
  Symbolizer symbols;
  StackSymbolizer symbolizer((*trace)->definitions(), &symbols);
  std::map<std::string, uint64_t> device_bytes, handles;
  EventStream stream(**trace);
  StreamEvent event;
  while (stream.Next(&event)) {
    if (event.operation != schema::ALLOCATE) continue;
    const std::string owner = symbolizer.Owner((*trace)->definitions().stacks.Distinct(event.shape->ref));
    if (event.shape->kind == schema::DEVICE) device_bytes[owner] += event.shape->bytes;
    if (event.shape->kind >= schema::COMMUNICATOR && event.shape->kind <= schema::SPARSE_HANDLE) ++handles[owner];
  }
  for (const char* library : {"libnccl.so.2", "libcublas.so.13", "libcudnn.so.9", "libcufft.so.12", "libcusolver.so.12",
                              "libcusparse.so.12"}) {
    EXPECT_GT(device_bytes[library], 0u) << library;
  }
  EXPECT_EQ(device_bytes.count("library_handles"), 0u) << "the program allocates nothing itself";
  EXPECT_GE(handles["library_handles"], 11u);
}

}  // namespace
}  // namespace vramtrack
