// SPDX-License-Identifier: Apache-2.0
//
// What a program did, by its own count: the truth that a trace of it is compared with.
#ifndef TESTS_WAYS_IN_PROGRAMS_TALLY_H_
#define TESTS_WAYS_IN_PROGRAMS_TALLY_H_

#include <cstddef>
#include <cstdio>
#include <map>
#include <string>

namespace vramtrack {

class Tally {
 public:
  // `kind`: as schema::KindName has it.
  void Allocated(const std::string& kind, size_t bytes) {
    ++counts_[kind].allocations;
    counts_[kind].bytes += bytes;
  }
  void Freed(const std::string& kind) { ++counts_[kind].frees; }
  void Failed(const std::string& kind) { ++counts_[kind].failures; }

  // Something went wrong that is not what is tested.
  void Wrong(const char* what, int error) {
    std::printf("wrong %s %d\n", what, error);
    wrong_ = true;
  }

  // A line for each kind; the exit code of the program.
  int Print() const {
    for (const auto& [kind, c] : counts_) {
      std::printf("%s %ld %ld %ld %zu\n", kind.c_str(), c.allocations, c.frees, c.failures, c.bytes);
    }
    return wrong_ ? 1 : 0;
  }

 private:
  struct Counts {
    long allocations = 0, frees = 0, failures = 0;
    size_t bytes = 0;
  };
  std::map<std::string, Counts> counts_;
  bool wrong_ = false;
};

}  // namespace vramtrack

#endif  // TESTS_WAYS_IN_PROGRAMS_TALLY_H_
