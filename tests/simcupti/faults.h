// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_SIMCUPTI_FAULTS_H_
#define TESTS_SIMCUPTI_FAULTS_H_

#include <cupti.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>

namespace vramtrack::simcupti {

// What goes wrong, from SIMCUPTI_FAULTS: a list of these words, some with a number, as in "late,drop=3".
struct Faults {
  bool taken = false;              // another tool holds the records
  bool newer_than_driver = false;  // "newer", or from a version on, "newer=130000": found out when it is first used
  bool no_permission = false;
  bool late = false;        // buffers come when they must, at the end
  uint64_t slow_us = 0;     // "slow": a flush takes that long
  uint64_t drop_every = 0;  // "drop"

  static const Faults& Get() {
    static const Faults faults = Read();
    return faults;
  }

  // Of "call=NAME", or "call=NAME:3": from which call of this function on it fails; UINT64_MAX: never.
  static uint64_t FailsFrom(const std::string& function) {
    const char* text = getenv("SIMCUPTI_FAULTS");
    const std::string wanted = "call=" + function;
    for (const char* at = text; at != nullptr && (at = strstr(at, wanted.c_str())) != nullptr;) {
      at += wanted.size();
      if (*at == ':') return strtoull(at + 1, nullptr, 10);
      if (*at == ',' || *at == '\0') return 1;
    }
    return UINT64_MAX;
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
    return faults;
  }
};

// In a function of the public interface.
#define SIMCUPTI_MAY_FAIL()                                         \
  do {                                                              \
    static const uint64_t fails_from = Faults::FailsFrom(__func__); \
    static std::atomic<uint64_t> calls{0};                          \
    if (++calls >= fails_from) return CUPTI_ERROR_UNKNOWN;          \
  } while (false)

}  // namespace vramtrack::simcupti

#endif  // TESTS_SIMCUPTI_FAULTS_H_
