// SPDX-License-Identifier: Apache-2.0
#include "interpose/session/process_info.h"

#include <limits.h>
#include <sys/prctl.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cstring>

#include "interpose/session/options.h"
#include "proto/message_writer.h"
#include "proto/tool_version.h"

extern char** environ;

namespace vramtrack {
namespace {

constexpr size_t kMaxCommandBytes = 8192;
constexpr size_t kMaxVariableBytes = 512;

constexpr const char* kVariables[] = {
    "CUBLAS_",    "CUDA_",    "CUDNN_", "DEEPSPEED_", "HF_",    "LD_PRELOAD=", "LOCAL_RANK=", "NCCL_",       "NVIDIA_",
    "OMPI_COMM_", "PYTORCH_", "RANK=",  "SIMCUDA_",   "SLURM_", "TORCH_",      "VRAMTRACK_",  "WORLD_SIZE=", "XLA_",
};

// In names of what must not leave the machine with a trace: HF_TOKEN, CUDA_LICENSE_KEY.
constexpr const char* kSecrets[] = {"AUTH", "CREDENTIAL", "KEY", "PASS", "SECRET", "TOKEN"};

bool Matters(const char* variable, size_t name_length) {
  bool matters = false;
  for (const char* prefix : kVariables) matters |= strncmp(variable, prefix, strlen(prefix)) == 0;
  for (const char* secret : kSecrets) {
    if (memmem(variable, name_length, secret, strlen(secret)) != nullptr) return false;
  }
  return matters;
}

// Large buffers are static, as the process is defined once: the first CUDA call may come from a thread whose stack is
// no larger than the system allows.
char command[kMaxCommandBytes];
char link_target[PATH_MAX];

void WriteCommand(MessageWriter* out) {
  const int bytes = ReadSmallFile("/proc/self/cmdline", command, sizeof command);
  for (int at = 0; at < bytes; at += static_cast<int>(strlen(command + at)) + 1) {
    // An empty argument is an argument.
    out->Bytes(schema::process_field::command, command + at, strlen(command + at));
  }
}

void WriteLink(const char* link, uint32_t field, MessageWriter* out) {
  const ssize_t length = readlink(link, link_target, sizeof link_target);
  if (length > 0) out->Bytes(field, link_target, static_cast<size_t>(length));
}

void WriteEnvironment(MessageWriter* out) {
  for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable) {
    const char* equals = strchr(*variable, '=');
    if (equals == nullptr || !Matters(*variable, static_cast<size_t>(equals - *variable))) continue;
    uint8_t* message = out->Begin(schema::process_field::environment);
    out->Bytes(schema::variable_field::name, *variable, static_cast<size_t>(equals - *variable));
    const size_t length = strlen(equals + 1);
    out->Bytes(schema::variable_field::value, equals + 1, length < kMaxVariableBytes ? length : kMaxVariableBytes);
    out->End(message);
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

bool WriteProcess(bool with_environment, uint8_t* buffer, size_t capacity, size_t* bytes) {
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
  out.SignedVarint(f::rank, RankFromEnvironment());
  out.String(f::tracer_version, kToolVersion);
  WriteDriverVersion(&out);
  if (with_environment) WriteEnvironment(&out);
  out.End(message);
  *bytes = out.size();
  return !out.overflowed();
}

}  // namespace

void DefineProcess(Lane* lane, uint8_t* buffer, size_t capacity) {
  size_t bytes;
  // An environment too large for the buffer is left out, the rest always fits.
  if (WriteProcess(true, buffer, capacity, &bytes) || WriteProcess(false, buffer, capacity, &bytes)) {
    lane->DefineEncoded(buffer, bytes);
  }
}

void DefineThread(Lane* lane) {
  char name[17] = {};
  prctl(PR_GET_NAME, name);
  uint8_t buffer[64];
  MessageWriter out(buffer, sizeof buffer);
  uint8_t* message = out.Begin(schema::definitions_field::threads);
  out.Varint(schema::thread_field::index, lane->thread());
  out.Varint(schema::thread_field::tid, ThreadId());
  out.String(schema::thread_field::name, name);
  out.End(message);
  lane->DefineEncoded(buffer, out.size());
}

}  // namespace vramtrack
