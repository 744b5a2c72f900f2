// SPDX-License-Identifier: Apache-2.0
#include "tests/simcuda/driver/injection.h"

#include <dlfcn.h>

#include <atomic>
#include <cstdlib>

#include "tests/simcuda/device/log.h"

namespace vramtrack::simcuda {
namespace {

std::atomic<bool> loaded;

}  // namespace

void LoadInjectedLibrary() {
  // Not std::call_once: the library may call cuInit itself.
  if (loaded.exchange(true)) return;
  const char* path = getenv("CUDA_INJECTION64_PATH");
  if (path == nullptr || *path == '\0') return;
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    SIMCUDA_LOG_CALL("injection: %s", dlerror());
    return;
  }
  const auto initialize = reinterpret_cast<int (*)()>(dlsym(library, "InitializeInjection"));
  if (initialize == nullptr) {
    SIMCUDA_LOG_CALL("injection: %s has no InitializeInjection", path);
    return;
  }
  const int result = initialize();
  SIMCUDA_LOG_CALL("injection: %s answered %d", path, result);
}

}  // namespace vramtrack::simcuda
