// SPDX-License-Identifier: Apache-2.0
//
// Which run a process belongs to, by its environment. The traced process and the launcher share this rule.
#ifndef PROTO_RUN_ID_H_
#define PROTO_RUN_ID_H_

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace vramtrack {

enum class RunIdSource {
  kNone,
  kOwn,       // VRAMTRACK_RUN_ID
  kJobStep,   // the processes of one srun
  kTorchrun,  // the workers of one torchrun
  kJob,       // one job of Slurm, whose script or shell may start any number of runs
};

// Writes at most `capacity` bytes of printable ASCII with a terminating zero; an empty text if there is no id.
// `find(name)` returns the value of an environment variable, or null. Allocates nothing.
template <typename Find>
RunIdSource FindRunId(const Find& find, char* id, size_t capacity) {
  const auto value_of = [&find](const char* name) {
    const char* value = find(name);
    return value != nullptr && *value != '\0' ? value : nullptr;
  };
  RunIdSource source = RunIdSource::kNone;
  id[0] = '\0';
  if (const char* own = value_of("VRAMTRACK_RUN_ID")) {
    source = RunIdSource::kOwn;
    snprintf(id, capacity, "%s", own);
  } else if (const char* job = value_of("SLURM_JOB_ID")) {
    const char* step = value_of("SLURM_STEP_ID");
    // Numbers from here on are not steps of srun: the script, the shell of an interactive job (slurm.h).
    constexpr unsigned long kFirstSpecialStep = 0xfffffff0;
    if (step != nullptr && strtoul(step, nullptr, 10) >= kFirstSpecialStep) step = nullptr;
    // A requeued job runs again under its old number.
    const char* restarts = value_of("SLURM_RESTART_COUNT");
    if (restarts != nullptr && strcmp(restarts, "0") == 0) restarts = nullptr;
    source = step != nullptr ? RunIdSource::kJobStep : RunIdSource::kJob;
    snprintf(id, capacity, "%s%s%s%s%s", job, step != nullptr ? "." : "", step != nullptr ? step : "",
             restarts != nullptr ? " restart " : "", restarts != nullptr ? restarts : "");
  } else if (const char* torchrun = value_of("TORCHELASTIC_RUN_ID")) {
    if (strcmp(torchrun, "none") != 0) {
      source = RunIdSource::kTorchrun;
      snprintf(id, capacity, "%s", torchrun);
    }
  }
  for (char* c = id; *c != '\0'; ++c) {
    if (*c < ' ' || *c > '~') *c = '_';
  }
  return source;
}

}  // namespace vramtrack

#endif  // PROTO_RUN_ID_H_
