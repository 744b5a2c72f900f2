// SPDX-License-Identifier: Apache-2.0
#include "interpose/session/session.h"

#include <limits.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include <cstring>

#include "interpose/base/clock.h"
#include "interpose/session/environment.h"
#include "proto/message_writer.h"
#include "proto/tool_version.h"

extern char** environ;

namespace vramtrack {
namespace {

constexpr size_t kMaxCommandBytes = 8192;
constexpr size_t kMaxVariableBytes = 512;
constexpr size_t kMaxRunIdBytes = 129;

// Large buffers are static, as the process is defined once: the first CUDA call may come from a thread whose stack is
// no larger than the system allows.
char command[kMaxCommandBytes];
char link_target[PATH_MAX];

// A program that has given itself a name, as Ray's workers do, has overwritten its arguments with the name and zeros.
// Returns the bytes of the name; `bytes` for arguments.
int NameBytes(int bytes) {
  const int name = static_cast<int>(strnlen(command, static_cast<size_t>(bytes))) + 1;
  for (int at = name; at < bytes; ++at) {
    if (command[at] != '\0') return bytes;
  }
  return bytes - name > 1 ? name : bytes;
}

void WriteCommand(MessageWriter* out) {
  const int bytes = NameBytes(ReadSmallFile("/proc/self/cmdline", command, sizeof command));
  for (int at = 0; at < bytes; at += static_cast<int>(strlen(command + at)) + 1) {
    // An empty argument is an argument.
    out->Bytes(schema::process_field::command, command + at, strlen(command + at));
  }
}

void WriteLink(const char* link, uint32_t field, MessageWriter* out) {
  const ssize_t length = readlink(link, link_target, sizeof link_target);
  if (length > 0) out->Bytes(field, link_target, static_cast<size_t>(length));
}

void WriteVariable(const char* variable, MessageWriter* out) {
  const char* equals = strchr(variable, '=');
  uint8_t* message = out->Begin(schema::process_field::environment);
  out->Bytes(schema::variable_field::name, variable, static_cast<size_t>(equals - variable));
  const size_t length = strlen(equals + 1);
  out->Bytes(schema::variable_field::value, equals + 1, length < kMaxVariableBytes ? length : kMaxVariableBytes);
  out->End(message);
}

// A program may set variables for its libraries before it calls CUDA, so those of this moment are recorded; where it
// has cleared or overwritten its environment, those of its start.
void WriteEnvironment(MessageWriter* out) {
  bool written = false;
  for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable) {
    if (!MattersToTrace(*variable)) continue;
    WriteVariable(*variable, out);
    written = true;
  }
  const Environment* start = Environment::AtStart();
  if (written || start == nullptr) return;
  for (const char* variable = start->variables(); *variable != '\0'; variable += strlen(variable) + 1) {
    WriteVariable(variable, out);
  }
}

// "NVRM version: NVIDIA UNIX ... Kernel Module  550.54.14  Thu Feb ...": the first word that begins with a digit.
void WriteDriverVersion(MessageWriter* out) {
  char text[512];
  if (ReadSmallFile("/proc/driver/nvidia/version", text, sizeof text) <= 0) return;
  char* rest;
  for (char* word = strtok_r(text, " \t\n", &rest); word != nullptr; word = strtok_r(nullptr, " \t\n", &rest)) {
    if (*word >= '0' && *word <= '9') {
      out->String(schema::process_field::driver_version, word);
      return;
    }
  }
}

// The age of this process in ms, at least 1.
uint64_t AgeOfProcess() {
  char text[1024];
  const int bytes = ReadSmallFile("/proc/self/stat", text, sizeof text);
  // "42 (name) S 41 ...": the name may have any characters. The start is the 22nd field, in clock ticks since boot.
  const char* at = bytes > 0 ? strrchr(text, ')') : nullptr;
  for (int field = 2; at != nullptr && field < 22; ++field) {
    at = strchr(at, ' ');
    if (at != nullptr) ++at;
  }
  const long ticks_per_second = sysconf(_SC_CLK_TCK);
  if (at == nullptr || ticks_per_second <= 0) return 1;
  const uint64_t start_ms = strtoull(at, nullptr, 10) * 1000 / static_cast<uint64_t>(ticks_per_second);
  const uint64_t now_ms = ClockNs(CLOCK_BOOTTIME) / 1000000;
  return now_ms > start_ms ? now_ms - start_ms : 1;
}

bool WriteProcess(bool joined, bool with_environment, uint8_t* buffer, size_t capacity, size_t* bytes) {
  namespace f = schema::process_field;
  MessageWriter out(buffer, capacity);
  uint8_t* message = out.Begin(schema::definitions_field::process);
  out.Varint(f::pid, static_cast<uint64_t>(getpid()));
  out.Varint(f::parent_pid, static_cast<uint64_t>(getppid()));
  WriteCommand(&out);
  WriteLink("/proc/self/exe", f::executable, &out);
  utsname host;
  if (uname(&host) == 0) out.String(f::host, host.nodename);
  WriteLink("/proc/self/cwd", f::working_directory, &out);
  out.SignedVarint(f::rank, RankOfProcess());
  out.String(f::tracer_version, kToolVersion);
  WriteDriverVersion(&out);
  char run[kMaxRunIdBytes];
  RunIdOfProcess(run, sizeof run);
  out.String(f::run_id, run);
  if (joined) out.Varint(f::joined_after_ms, AgeOfProcess());
  if (with_environment) WriteEnvironment(&out);
  out.End(message);
  *bytes = out.size();
  return !out.overflowed();
}

}  // namespace

void DefineProcess(EventWriter* writer, bool joined, uint8_t* buffer, size_t capacity) {
  size_t bytes;
  // An environment too large for the buffer is left out, the rest always fits.
  if (WriteProcess(joined, true, buffer, capacity, &bytes) || WriteProcess(joined, false, buffer, capacity, &bytes)) {
    writer->DefineEncoded(buffer, bytes);
  }
}

void DefineThread(EventWriter* writer) {
  char name[17] = {};
  prctl(PR_GET_NAME, name);
  writer->Define<64>(schema::definitions_field::threads, [&](MessageWriter* out) {
    out->Varint(schema::thread_field::index, writer->thread());
    out->Varint(schema::thread_field::tid, ThreadId());
    out->String(schema::thread_field::name, name);
  });
}

}  // namespace vramtrack
