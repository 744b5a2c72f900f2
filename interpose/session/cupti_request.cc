// SPDX-License-Identifier: Apache-2.0
#include "interpose/session/cupti_request.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <unistd.h>

#include <atomic>
#include <cstring>

#include "interpose/base/message.h"
#include "interpose/session/environment.h"

namespace vramtrack {
namespace {

constexpr char kVariable[] = "CUDA_INJECTION64_PATH";
constexpr char kLibrary[] = "libvramtrack_cupti.so";
// Next to this library; where the build puts it.
constexpr const char* kPlaces[] = {"", "../cupti_tracer/"};

enum class Answer { kNotAsked, kAsked, kNoSense, kTaken, kNotThere } answer;
std::atomic<bool> tracer_came{false};

bool IsOurs(const char* path) {
  const char* slash = strrchr(path, '/');
  return strcmp(slash != nullptr ? slash + 1 : path, kLibrary) == 0;
}

// Null where a privileged program's environment has it.
const char* AtStart(const char* name) {
  const Environment* start = getauxval(AT_SECURE) == 0 ? Environment::AtStart() : nullptr;
  return start == nullptr ? nullptr : start->Find(name);
}
const char* Wanted() { return AtStart("VRAMTRACK_CUPTI"); }

__attribute__((constructor)) void Request() {
  const char* wanted = Wanted();
  if (wanted == nullptr || *wanted == '\0' || strcmp(wanted, "0") == 0) return;
  if (!IsCuptiAsked()) {
    answer = Answer::kNoSense;
    return;
  }
  const char* present = getenv(kVariable);
  if (present != nullptr && *present != '\0') {
    answer = IsOurs(present) ? Answer::kAsked : Answer::kTaken;
    return;
  }
  answer = Answer::kNotThere;
  Dl_info own;
  static char path[4096];
  if (dladdr(&answer, &own) == 0) return;
  const char* slash = strrchr(own.dli_fname, '/');
  const int folder = slash != nullptr ? static_cast<int>(slash + 1 - own.dli_fname) : 0;
  for (const char* place : kPlaces) {
    snprintf(path, sizeof path, "%.*s%s%s", folder, own.dli_fname, place, kLibrary);
    char* real = realpath(path, nullptr);  // the program may go elsewhere before it needs the driver
    if (real == nullptr) continue;
    setenv(kVariable, real, 0);
    free(real);
    answer = Answer::kAsked;
    return;
  }
}

}  // namespace

bool IsCuptiAsked() {
  const char* wanted = Wanted();
  return wanted != nullptr && strcmp(wanted, "1") == 0;
}

void NoteCuptiTracer() { tracer_came.store(true, std::memory_order_relaxed); }

void ReportCuptiRequest() {
  switch (answer) {
    case Answer::kNoSense:
      return Say("VRAMTRACK_CUPTI: invalid value '%s' (expected 0 or 1); CUPTI is not used", Wanted());
    case Answer::kTaken:
      return Say("no CUPTI: %s names another tool, %s; API hooks keep recording", kVariable, AtStart(kVariable));
    case Answer::kNotThere:
      return Say("no CUPTI: %s is not next to libvramtrack.so; API hooks keep recording", kLibrary);
    case Answer::kAsked:
      // The driver reads it when it is initialized, which may have been before.
      if (getenv(kVariable) != nullptr || tracer_came.load(std::memory_order_relaxed)) return;
      return Say("no CUPTI: the program has removed %s from its environment; API hooks keep recording", kVariable);
    default:
      return;
  }
}

}  // namespace vramtrack
