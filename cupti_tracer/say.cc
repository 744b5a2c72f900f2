// SPDX-License-Identifier: Apache-2.0
#include "cupti_tracer/say.h"

#include <stdarg.h>
#include <stdio.h>

namespace vramtrack::cupti {
namespace {

void (*say)(const char* line) = nullptr;

}  // namespace

void SayBy(const VramtrackRecorder* recorder) { say = recorder->say; }

void Say(const char* format, ...) {
  if (say == nullptr) return;
  char line[512];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  say(line);
}

}  // namespace vramtrack::cupti
