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
const Library* real;
void (*leave)(const char* why);
std::atomic<unsigned long long> libraries_seen{0};
std::atomic<uint64_t> enabled_by_others{0};  // kinds, one bit each

int OtherRegisters(RequestBuffer request, CompleteBuffer complete) {
  leave("another tool asked CUPTI for its records");
  return real->cuptiActivityRegisterCallbacks(request, complete);
}

// torch.profiler does this before it registers. Records of ours would have times of that clock from then on.
int OtherSetsClock(uint64_t (*clock)()) {
  leave("another tool gave CUPTI a clock of its own");
  return real->cuptiActivityRegisterTimestampCallback(clock);
}

int OtherFinalizes() {
  leave("CUPTI was detached by another tool");
  return real->cuptiFinalize();
}

int OtherEnables(uint32_t kind) {
  if (kind < 64) enabled_by_others.fetch_or(uint64_t{1} << kind);
  return real->cuptiActivityEnable(kind);
}

int OtherDisables(uint32_t kind) {
  if (kind < 64) enabled_by_others.fetch_and(~(uint64_t{1} << kind));
  return real->cuptiActivityDisable(kind);
}

constexpr const char* kNames[] = {"cuptiActivityRegisterCallbacks",
                                  "cuptiActivityRegisterTimestampCallback",
                                  "cuptiFinalize",
                                  "cuptiActivityEnable",
                                  "cuptiActivityDisable",
                                  nullptr};
void* const kReplacements[] = {
    reinterpret_cast<void*>(&OtherRegisters), reinterpret_cast<void*>(&OtherSetsClock),
    reinterpret_cast<void*>(&OtherFinalizes), reinterpret_cast<void*>(&OtherEnables),
    reinterpret_cast<void*>(&OtherDisables),
};

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

bool EnabledByOthers(uint32_t kind) { return kind < 64 && (enabled_by_others.load() >> kind & 1) != 0; }

void GiveWayToOthers(const VramtrackRecorder* recorder, const Library& library, void (*on_other)(const char* why)) {
  real = &library;
  leave = on_other;
  WatchOtherTools(recorder);
}

void WatchOtherTools(const VramtrackRecorder* recorder) {
  const unsigned long long now = LibrariesLoaded();
  if (libraries_seen.exchange(now) == now) return;
  recorder->redirect_imports(kNames, kReplacements);
}

}  // namespace vramtrack::cupti
