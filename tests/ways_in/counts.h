// SPDX-License-Identifier: Apache-2.0
//
// What a program prints of itself (programs/tally.h) and what its trace says, in the same form.
#ifndef TESTS_WAYS_IN_COUNTS_H_
#define TESTS_WAYS_IN_COUNTS_H_

#include <cstdint>
#include <map>
#include <ostream>
#include <string>

namespace vramtrack {

struct Counts {
  uint64_t allocations = 0, frees = 0, failures = 0, bytes = 0;
  bool operator==(const Counts& o) const {
    return allocations == o.allocations && frees == o.frees && failures == o.failures && bytes == o.bytes;
  }
};
std::ostream& operator<<(std::ostream& out, const Counts& counts);
using ByKind = std::map<std::string, Counts>;

ByKind Printed(const std::string& out);

// Of a finished trace in which nothing is lost, unknown or taken back; anything else fails the test.
ByKind Traced(const std::string& path);

}  // namespace vramtrack

#endif  // TESTS_WAYS_IN_COUNTS_H_
