// SPDX-License-Identifier: Apache-2.0
#include "interpose/hooks/entry/patched_imports.h"

#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <cstring>

#include "interpose/loader/import_patcher.h"

namespace vramtrack {
namespace {

void (*before_end)();
void (*before_exec)();
std::atomic<bool> listened{false};

// This library's own imports are not patched: these calls are of the real functions.
[[noreturn]] void End(int status) {
  before_end();
  _exit(status);
}

int Execve(const char* path, char* const* words, char* const* environment) {
  before_exec();
  return execve(path, words, environment);
}

int Execv(const char* path, char* const* words) {
  before_exec();
  return execv(path, words);
}

int Execvp(const char* file, char* const* words) {
  before_exec();
  return execvp(file, words);
}

int Execvpe(const char* file, char* const* words, char* const* environment) {
  before_exec();
  return execvpe(file, words, environment);
}

struct Replaced {
  const char* name;
  void* by;
};
const Replaced kReplaced[] = {
    {"_exit", reinterpret_cast<void*>(&End)},     {"_Exit", reinterpret_cast<void*>(&End)},
    {"execve", reinterpret_cast<void*>(&Execve)}, {"execv", reinterpret_cast<void*>(&Execv)},
    {"execvp", reinterpret_cast<void*>(&Execvp)}, {"execvpe", reinterpret_cast<void*>(&Execvpe)},
};

void* ReplacementFor(const LoadedObject&, const char* name, const void*) {
  if (name[0] != '_' && name[0] != 'e') return nullptr;
  for (const Replaced& each : kReplaced) {
    if (strcmp(name, each.name) == 0) return each.by;
  }
  return nullptr;
}

bool IsReplaced(const char* name) { return ReplacementFor({}, name, nullptr) != nullptr; }

NewImports new_imports(IsReplaced, ReplacementFor);

}  // namespace

void ListenToProcessEnds(void (*on_end)(), void (*on_exec)()) {
  before_end = on_end;
  before_exec = on_exec;
  listened.store(true, std::memory_order_release);
  WatchNewProcessEnds();
}

void WatchNewProcessEnds() {
  if (listened.load(std::memory_order_acquire)) new_imports.Patch();
}

}  // namespace vramtrack
