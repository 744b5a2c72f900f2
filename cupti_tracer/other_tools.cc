// SPDX-License-Identifier: Apache-2.0
#include "cupti_tracer/other_tools.h"

#include <link.h>
#include <string.h>

#include <atomic>

namespace vramtrack::cupti {
namespace {

// By the libraries that they bring into a process.
struct Tool {
  const char* library;
  const char* name;
};
constexpr Tool kTools[] = {
    {"libToolsInjection64.so", "Nsight Systems"},    {"libInterceptorInjectionTarget.so", "Nsight Compute"},
    {"libcuda-injection.so", "Nsight Compute"},      {"libTreeLauncherTargetInjection.so", "compute-sanitizer"},
    {"libsanitizer-public.so", "compute-sanitizer"}, {"libcudadebugger.so", "cuda-gdb"},
};

// The real functions, and who is told before they are called.
struct Next {
  int (*register_callbacks)(RequestBuffer, CompleteBuffer);
  int (*finalize)();
  void (*leave)(const char* why);
};
Next next;
std::atomic<unsigned long long> libraries_seen{0};

int OtherRegisters(RequestBuffer request, CompleteBuffer complete) {
  next.leave("another tool asked CUPTI for its records");
  return next.register_callbacks(request, complete);
}

int OtherFinalizes() {
  next.leave("CUPTI was detached by another tool");
  return next.finalize();
}

constexpr const char* kNames[] = {"cuptiActivityRegisterCallbacks", "cuptiFinalize", nullptr};
void* const kReplacements[] = {reinterpret_cast<void*>(&OtherRegisters), reinterpret_cast<void*>(&OtherFinalizes)};

unsigned long long LibrariesLoaded() {
  unsigned long long count = 0;
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* data) {
        *static_cast<unsigned long long*>(data) = info->dlpi_adds;
        return 1;
      },
      &count);
  return count;
}

}  // namespace

const char* OtherTool() {
  const char* found = nullptr;
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* data) {
        const char* slash = strrchr(info->dlpi_name, '/');
        const char* name = slash != nullptr ? slash + 1 : info->dlpi_name;
        for (const Tool& tool : kTools) {
          if (strncmp(name, tool.library, strlen(tool.library)) == 0) *static_cast<const char**>(data) = tool.name;
        }
        return 0;
      },
      &found);
  return found;
}

void GiveWayToOthers(const VramtrackRecorder* recorder, const Library& library, void (*leave)(const char* why)) {
  next = {library.cuptiActivityRegisterCallbacks, library.cuptiFinalize, leave};
  WatchOtherTools(recorder);
}

void WatchOtherTools(const VramtrackRecorder* recorder) {
  const unsigned long long now = LibrariesLoaded();
  if (libraries_seen.exchange(now) == now) return;
  recorder->redirect_imports(kNames, kReplacements);
}

}  // namespace vramtrack::cupti
