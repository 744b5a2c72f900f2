// SPDX-License-Identifier: Apache-2.0
#include "interpose/session/environment.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/auxv.h>

#include <atomic>
#include <cstring>

#include "interpose/base/system_call.h"
#include "proto/run_id.h"

extern char** environ;

namespace vramtrack {
namespace {

constexpr size_t kFolderBytes = 4096;

// Names, or what they begin with.
constexpr const char* kVariables[] = {
    "CUBLAS_",  "CUDA_",   "CUDNN_",     "DEEPSPEED_",           "HF_",        "LD_PRELOAD=", "LOCAL_RANK=",
    "NCCL_",    "NVIDIA_", "OMPI_COMM_", "PMIX_RANK=",           "PMI_RANK=",  "PYTORCH_",    "RANK=",
    "SIMCUDA_", "SLURM_",  "TORCH_",     "TORCHELASTIC_RUN_ID=", "VRAMTRACK_", "WORLD_SIZE=", "XLA_",
};

// In names of what must not leave the machine with a trace: HF_TOKEN, CUDA_LICENSE_KEY.
constexpr const char* kSecrets[] = {"AUTH", "CREDENTIAL", "KEY", "PASS", "SECRET", "TOKEN"};

constexpr const char* kRankVariables[] = {"RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "SLURM_PROCID"};

std::atomic<Environment*> at_start{nullptr};

template <typename Each>
void EachKept(Each each) {
  for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable) {
    if (MattersToTrace(*variable)) each(*variable);
  }
}

const char* Value(const char* variable, const char* name) {
  const size_t length = strlen(name);
  return strncmp(variable, name, length) == 0 && variable[length] == '=' ? variable + length + 1 : nullptr;
}

// A privileged program's environment is not its own, and it is not traced.
__attribute__((constructor)) void KeepEnvironment() {
  if (getauxval(AT_SECURE) == 0) Environment::AtStart();
}

}  // namespace

bool MattersToTrace(const char* variable) {
  bool matters = false;
  for (const char* prefix : kVariables) {
    matters |= *variable == *prefix && strncmp(variable, prefix, strlen(prefix)) == 0;
  }
  const char* equals = matters ? strchr(variable, '=') : nullptr;
  if (equals == nullptr) return false;
  for (const char* secret : kSecrets) {
    if (memmem(variable, static_cast<size_t>(equals - variable), secret, strlen(secret)) != nullptr) return false;
  }
  return true;
}

// `lines` come first, so Find returns their values.
Environment* Environment::Copy(const char* lines) {
  size_t bytes = sizeof(Environment) + kFolderBytes + 1 + strlen(lines) + 1;
  EachKept([&](const char* variable) { bytes += strlen(variable) + 1; });
  auto* copy = static_cast<Environment*>(MapPrivate(bytes));
  if (copy == nullptr) return nullptr;
  if (!WorkingDirectory(copy->text_, kFolderBytes)) copy->text_[0] = '\0';
  copy->folder_bytes_ = strlen(copy->text_) + 1;
  char* to = copy->text_ + copy->folder_bytes_;
  const char* const end = reinterpret_cast<char*>(copy) + bytes - 1;
  while (*lines != '\0') {
    const char* newline = strchr(lines, '\n');
    const size_t length = newline != nullptr ? static_cast<size_t>(newline - lines) : strlen(lines);
    memcpy(to, lines, length);
    to[length] = '\0';
    if (MattersToTrace(to)) to += length + 1;
    *to = '\0';
    lines += newline != nullptr ? length + 1 : length;
  }
  EachKept([&](const char* variable) {
    const size_t length = strlen(variable) + 1;
    if (length > static_cast<size_t>(end - to)) return;  // another thread has set it meanwhile
    memcpy(to, variable, length);
    to += length;
  });
  return copy;
}

const Environment* Environment::AtStart() {
  Environment* kept = at_start.load(std::memory_order_acquire);
  if (kept != nullptr) return kept;
  // Constructors of the program's own libraries run before this one's and may call CUDA, so there may be two at it.
  Environment* copy = Copy("");
  if (copy == nullptr) return nullptr;
  return at_start.compare_exchange_strong(kept, copy, std::memory_order_acq_rel, std::memory_order_acquire) ? copy
                                                                                                            : kept;
}

// The earlier copy stays: another thread may be reading it.
bool Environment::Override(const char* lines) {
  Environment* const copy = Copy(lines);
  if (copy == nullptr) return false;
  at_start.store(copy, std::memory_order_release);
  return true;
}

const char* Environment::Find(const char* name) const {
  for (const char* variable = variables(); *variable != '\0'; variable += strlen(variable) + 1) {
    if (const char* value = Value(variable, name)) return value;
  }
  return nullptr;
}

int RankOfProcess() {
  const Environment* start = Environment::AtStart();
  for (const char* name : kRankVariables) {
    const char* value = getenv(name);
    if (value == nullptr && start != nullptr) value = start->Find(name);
    if (value != nullptr && *value >= '0' && *value <= '9') return atoi(value);
  }
  return -1;
}

void RunIdOfProcess(char* id, size_t capacity) {
  const Environment* start = Environment::AtStart();
  FindRunId([start](const char* name) { return start == nullptr ? nullptr : start->Find(name); }, id, capacity);
}

}  // namespace vramtrack
