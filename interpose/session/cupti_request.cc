// SPDX-License-Identifier: Apache-2.0
#include "interpose/session/cupti_request.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <unistd.h>

#include <cstring>

#include "interpose/session/message.h"

namespace vramtrack {
namespace {

constexpr char kVariable[] = "CUDA_INJECTION64_PATH";
constexpr char kLibrary[] = "libvramtrack_cupti.so";
// Beside this library; where the build puts it.
constexpr const char* kPlaces[] = {"", "../cupti_tracer/"};

enum class Answer { kNotAsked, kAsked, kNoSense, kTaken, kNotThere } answer;

bool IsOurs(const char* path) {
  const char* slash = strrchr(path, '/');
  return strcmp(slash != nullptr ? slash + 1 : path, kLibrary) == 0;
}

__attribute__((constructor)) void Request() {
  const char* wanted = getenv("VRAMTRACK_CUPTI");
  if (wanted == nullptr || *wanted == '\0' || strcmp(wanted, "0") == 0 || getauxval(AT_SECURE) != 0) return;
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
  const char* wanted = getenv("VRAMTRACK_CUPTI");
  return wanted != nullptr && strcmp(wanted, "1") == 0 && getauxval(AT_SECURE) == 0;
}

void ReportCuptiRequest() {
  switch (answer) {
    case Answer::kNoSense:
      return Say("VRAMTRACK_CUPTI=%s is not 0 or 1: CUPTI is not asked", getenv("VRAMTRACK_CUPTI"));
    case Answer::kTaken:
      return Say("no CUPTI: %s names another tool, %s; hooked events go on", kVariable, getenv(kVariable));
    case Answer::kNotThere:
      return Say("no CUPTI: %s is not beside libvramtrack.so; hooked events go on", kLibrary);
    default:
      return;
  }
}

}  // namespace vramtrack
