// SPDX-License-Identifier: Apache-2.0
#include "interpose/base/message.h"

#include <stdarg.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>

#include "interpose/base/system_call.h"

namespace vramtrack {
namespace {

// Where a process starts without a stderr, the number is some file of the program's later.
bool has_stderr = false;
__attribute__((constructor)) void LookForStderr() { has_stderr = IsOpen(STDERR_FILENO); }

// Of the calling thread.
__thread char* captured __attribute__((tls_model("initial-exec"))) = nullptr;
__thread unsigned long captured_bytes __attribute__((tls_model("initial-exec"))) = 0;

// Formats a line. Control characters, such as a path may have, become question marks: they could steer the terminal.
// Returns its length.
int FormatLine(char* line, unsigned long capacity, const char* format, va_list arguments) {
  if (vsnprintf(line, capacity, format, arguments) < 0) *line = '\0';
  int length = 0;
  for (; line[length] != '\0'; ++length) {
    if (static_cast<unsigned char>(line[length]) < ' ' || line[length] == '\x7f') line[length] = '?';
  }
  return length;
}

}  // namespace

CapturedMessages::CapturedMessages(char* line, unsigned long capacity) {
  *line = '\0';
  captured_bytes = capacity;
  captured = line;
}

CapturedMessages::~CapturedMessages() { captured = nullptr; }

void Say(const char* format, ...) {
  if (captured != nullptr) {
    va_list arguments;
    va_start(arguments, format);
    FormatLine(captured, captured_bytes, format, arguments);
    va_end(arguments);
    return;
  }
  static std::atomic<int> said{0};
  if (!has_stderr || said.fetch_add(1) >= 2) return;
  char line[1024] = "vramtrack: ";
  constexpr int kPrefix = 11;
  va_list arguments;
  va_start(arguments, format);
  const int length = kPrefix + FormatLine(line + kPrefix, sizeof line - kPrefix - 1, format, arguments);
  va_end(arguments);
  line[length] = '\n';
  syscall(SYS_write, STDERR_FILENO, line, static_cast<size_t>(length) + 1);
}

}  // namespace vramtrack
