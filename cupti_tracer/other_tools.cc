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

void (*leave)(const char* why);
std::atomic<uint64_t> enabled_by_others{0};  // kinds, one bit each

void BeforeOther(uint32_t call, uint64_t argument) {
  const uint64_t bit = argument < 64 ? uint64_t{1} << argument : 0;
  switch (call) {
    case VRAMTRACK_CUPTI_REGISTER:
      return leave("another tool asked CUPTI for its records");
    case VRAMTRACK_CUPTI_SET_CLOCK:
      // torch.profiler does this before it registers. Records of ours would have times of that clock from then on.
      return leave("another tool gave CUPTI a clock of its own");
    case VRAMTRACK_CUPTI_FINALIZE:
      return leave("CUPTI was detached by another tool");
    case VRAMTRACK_CUPTI_ENABLE:
      enabled_by_others.fetch_or(bit);
      return;
    case VRAMTRACK_CUPTI_DISABLE:
      enabled_by_others.fetch_and(~bit);
      return;
    default:
      return;
  }
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

void GiveWayToOthers(const VramtrackRecorder* recorder, void (*on_other)(const char* why)) {
  leave = on_other;
  recorder->listen_to_cupti(BeforeOther);
}

const char* OtherCupti(const VramtrackRecorder* recorder, const void* known) {
  return recorder->other_owner("cuptiActivityRegisterCallbacks", known);
}

}  // namespace vramtrack::cupti
