// SPDX-License-Identifier: Apache-2.0
#include "tests/ways_in/counts.h"

#include <gtest/gtest.h>

#include <sstream>

#include "tests/preload/traced_run.h"

namespace vramtrack {

std::ostream& operator<<(std::ostream& out, const Counts& c) {
  return out << c.allocations << " allocations, " << c.frees << " frees, " << c.failures << " failures, " << c.bytes
             << " bytes";
}

ByKind Printed(const std::string& out) {
  ByKind counts;
  std::istringstream lines(out);
  std::string kind;
  Counts c;
  while (lines >> kind >> c.allocations >> c.frees >> c.failures >> c.bytes) {
    Counts& sum = counts[kind];
    sum.allocations += c.allocations;
    sum.frees += c.frees;
    sum.failures += c.failures;
    sum.bytes += c.bytes;
  }
  return counts;
}

ByKind Traced(const std::string& path) {
  ByKind counts;
  auto trace = Trace::Open(path);
  if (!trace.ok()) {
    ADD_FAILURE() << trace.status();
    return counts;
  }
  EventStream stream(**trace);
  StreamEvent event;
  std::map<AllocationName, uint32_t> kinds;
  while (stream.Next(&event)) {
    const char* name = schema::KindName(event.shape->kind);
    switch (event.operation) {
      case schema::ALLOCATE:
        ++counts[name].allocations;
        counts[name].bytes += event.shape->bytes;
        kinds[{event.owner, event.ordinal}] = event.shape->kind;
        break;
      case schema::FREE:
        ++counts[schema::KindName(kinds[{event.owner, event.ordinal}])].frees;
        break;
      case schema::FAIL:
        ++counts[name].failures;
        break;
      case schema::FREE_UNKNOWN:
      case schema::FREE_FAILED:
        ADD_FAILURE() << "operation " << event.operation << " in " << path;
        break;
      default:
        break;
    }
  }
  EXPECT_EQ((*trace)->lost_events(), 0u);
  EXPECT_TRUE((*trace)->finished());
  return counts;
}

}  // namespace vramtrack
