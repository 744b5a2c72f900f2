// SPDX-License-Identifier: Apache-2.0
//
// The entry point. At cuInit the driver loads the library that CUDA_INJECTION64_PATH names, and calls
// InitializeInjection. NVIDIA provides this for CUPTI tools: no hook is active and no context exists yet.
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cupti_tracer/tracer.h"

extern "C" __attribute__((visibility("default"))) int InitializeInjection();

namespace {

constexpr char kRecorder[] = "libvramtrack.so";
// Next to this library; where the build puts it.
constexpr const char* kPlaces[] = {"", "../interpose/"};

using GetRecorder = const VramtrackRecorder* (*)();

// The recorder that is preloaded, or else the one next to this library, which then takes the way of the driver, too.
const VramtrackRecorder* FindRecorder() {
  auto get = reinterpret_cast<GetRecorder>(dlsym(RTLD_DEFAULT, "vramtrack_recorder"));
  static char path[4096];
  Dl_info own;
  if (get == nullptr && dladdr(reinterpret_cast<void*>(&InitializeInjection), &own) != 0) {
    const char* slash = strrchr(own.dli_fname, '/');
    const int folder = slash != nullptr ? static_cast<int>(slash + 1 - own.dli_fname) : 0;
    for (const char* place : kPlaces) {
      snprintf(path, sizeof path, "%.*s%s%s", folder, own.dli_fname, place, kRecorder);
      void* library = access(path, R_OK) == 0 ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : nullptr;
      if (library == nullptr) continue;
      get = reinterpret_cast<GetRecorder>(dlsym(library, "vramtrack_recorder"));
      const auto initialize = reinterpret_cast<int (*)()>(dlsym(library, "InitializeInjection"));
      if (get != nullptr && initialize != nullptr) initialize();
      break;
    }
  }
  return get != nullptr ? get() : nullptr;
}

}  // namespace

int InitializeInjection() {
  const VramtrackRecorder* recorder = FindRecorder();
  if (recorder == nullptr || recorder->version != VRAMTRACK_RECORDER_VERSION) {
    static constexpr char kLine[] =
        "vramtrack: libvramtrack_cupti.so finds no libvramtrack.so of its own version, neither preloaded nor in "
        "the same folder\n";
    [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, kLine, sizeof kLine - 1);
    return 0;
  }
  vramtrack::cupti::StartTracer(recorder);
  return 1;
}
