// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_SIMCUPTI_FAULTS_H_
#define TESTS_SIMCUPTI_FAULTS_H_

#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace vramtrack::simcupti {

// What goes wrong, from SIMCUPTI_FAULTS: a list of these words, some with a number, as in "late,drop=3".
struct Faults {
  bool taken = false;              // another tool holds the records
  bool newer_than_driver = false;  // "newer", or from a version on, "newer=130000": found out when it is first used
  bool no_permission = false;
  bool late = false;          // buffers come when they must, at the end
  uint64_t slow_us = 0;       // "slow": a flush takes that long
  uint64_t drop_every = 0;    // "drop"
  uint64_t enable_fails = 0;  // "enable": the n-th call
  uint64_t flush_fails = 0;   // "flush": the n-th call

  static const Faults& Get() {
    static const Faults faults = Read();
    return faults;
  }

 private:
  static Faults Read() {
    Faults faults;
    const char* text = getenv("SIMCUPTI_FAULTS");
    const auto number = [text](const char* word) -> uint64_t {
      const char* at = text == nullptr ? nullptr : strstr(text, word);
      return at == nullptr ? 0 : strtoull(at + strlen(word), nullptr, 10);
    };
    const auto has = [text](const char* word) { return text != nullptr && strstr(text, word) != nullptr; };
    faults.taken = has("taken");
    faults.newer_than_driver = has("newer") && SIMCUPTI_VERSION >= number("newer=");
    faults.no_permission = has("permission");
    faults.late = has("late");
    faults.slow_us = number("slow=");
    faults.drop_every = number("drop=");
    faults.enable_fails = number("enable=");
    faults.flush_fails = number("flush=");
    return faults;
  }
};

}  // namespace vramtrack::simcupti

#endif  // TESTS_SIMCUPTI_FAULTS_H_
