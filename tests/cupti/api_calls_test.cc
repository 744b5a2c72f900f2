// SPDX-License-Identifier: Apache-2.0
//
// The numbers of the memory functions: those of a release's headers, and of every function that is hooked because it
// gives memory out or takes it back.
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

#include "interpose/hooks/table/cuda_abi.h"
#include "proto/schema_constants.h"

namespace vramtrack {
namespace {

using Numbers = std::map<std::string, uint32_t>;

const Numbers& HeaderNumbers() {
  static const Numbers numbers = [] {
    struct Row {
      const char* name;
      uint32_t number;
    };
    constexpr Row kRows[] = {
#define SIMCUPTI_RUNTIME_CALL(name, number) {#name, number},
#define SIMCUPTI_DRIVER_CALL(name, number) {#name, number},
#include CALL_NUMBERS
    };
    Numbers all;
    for (const Row& row : kRows) all[row.name] = row.number;
    return all;
  }();
  return numbers;
}

Numbers OurNumbers() {
  return {
#define VRAMTRACK_API_CALL(kind, name, number) {#name, number},
#include "proto/api_calls.inc"
  };
}

// What is hooked and gives out, or takes back, memory; handles are none.
std::set<std::string> HookedMemoryFunctions() {
  struct Row {
    const char* name;
    schema::Kind kind;
  };
  const Row rows[] = {
#define VRAMTRACK_ALLOCATES(entry, kind, ...) {#entry, schema::kind},
#define VRAMTRACK_ALLOCATES_ON(entry, kind, ...) {#entry, schema::kind},
#define VRAMTRACK_FREES(entry, kind, ...) {#entry, schema::kind},
#define VRAMTRACK_RETAINS(entry, kind, ...) {#entry, schema::kind},
#define VRAMTRACK_RELEASES(entry, kind, ...) {#entry, schema::kind},
#define VRAMTRACK_ENTRY(entry, ...)
#define VRAMTRACK_WITHOUT_LIBRARY_API
#define VRAMTRACK_WITHOUT_FRAMEWORK_API
#include "interpose/hooks/table/api.inc"
  };
  std::set<std::string> names;
  for (const Row& row : rows) {
    if (row.kind < schema::STREAM) names.insert(row.name);
  }
  return names;
}

TEST(ApiCalls, HaveTheNumbersOfTheHeaders) {
  int known = 0;
  for (const auto& [name, number] : OurNumbers()) {
    const auto found = HeaderNumbers().find(name);
    if (found == HeaderNumbers().end()) continue;  // a release before, or after, the function
    EXPECT_EQ(number, found->second) << name;
    ++known;
  }
  EXPECT_GE(known, 70);
}

TEST(ApiCalls, AreAllHookedMemoryFunctions) {
  const Numbers ours = OurNumbers();
  const std::set<std::string> hooked = HookedMemoryFunctions();
  EXPECT_GE(hooked.size(), 60u);
  for (const std::string& name : hooked) {
    if (HeaderNumbers().count(name) != 0) {
      EXPECT_EQ(ours.count(name), 1u) << name;
    }
  }
}

}  // namespace
}  // namespace vramtrack
