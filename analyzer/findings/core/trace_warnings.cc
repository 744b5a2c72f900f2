// SPDX-License-Identifier: Apache-2.0
#include "analyzer/findings/core/trace_warnings.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "analyzer/base/quantity.h"
#include "analyzer/ingest/unseen_text.h"
#include "analyzer/model/frame_text.h"

namespace vramtrack {

void AddModuleWarnings(const std::vector<ModuleStatus>& statuses, std::vector<std::string>* warnings) {
  std::map<ModuleState, std::vector<const ModuleStatus*>> by_state;
  for (const ModuleStatus& module : statuses) {
    by_state[module.state].push_back(&module);
    if (module.unreadable_debug_info) {
      warnings->push_back(absl::StrCat(module.path,
                                       ": its debug information cannot be read, so its frames have no lines; if it is "
                                       "compressed with zstd: objcopy --decompress-debug-sections"));
    }
    if (module.missing_dwo_files.empty()) continue;
    warnings->push_back(absl::StrCat(
        module.path, ": its stacks lack the callers of inlined functions, and one line may stand for several, because ",
        Plural(module.missing_dwo_files.size(), ".dwo file is", ".dwo files are"), " missing, such as ",
        *module.missing_dwo_files.begin()));
  }
  for (const auto& [state, modules] : by_state) {
    const ModuleStatus& first = *modules.front();
    const bool one = modules.size() == 1;
    const std::string files = one ? first.path : absl::StrCat(modules.size(), " files such as ", first.path);
    const char* const frames = one ? "its frames" : "their frames";
    if (state == ModuleState::kMissing) {
      warnings->push_back(absl::StrCat(files, one ? " is" : " are", " not there: ", frames,
                                       " have no names; name the folder of a copy with --search-path"));
    } else if (state == ModuleState::kBuildIdMismatch) {
      warnings->push_back(
          absl::StrCat(files, one ? " has" : " have", " changed since (", first.refused_path,
                       first.build_id.empty() ? " has other code, or was written later" : " has another build id",
                       "): ", frames, " have no names; name the folder of the file that ran with --search-path"));
    } else if (state == ModuleState::kUnreadable) {
      warnings->push_back(
          absl::StrCat(files, one ? " is" : " are", " not in ELF format; ", frames, " have no function names"));
    }
  }
}

namespace {

// Under MPS several processes share the context's memory, and each may have a limit of its own.
void AddMps(const std::string& path, const TracedProcess& process, std::vector<std::string>* warnings) {
  std::string folder, limit;
  for (const auto& [name, value] : process.environment) {
    if (name == "CUDA_MPS_PIPE_DIRECTORY") folder = value;
    if (name == "CUDA_MPS_PINNED_DEVICE_MEM_LIMIT") limit = value;
  }
  if (folder.empty() && limit.empty()) return;
  std::string text = absl::StrCat(path, ": the process uses its devices through MPS");
  if (!folder.empty()) absl::StrAppend(&text, " (CUDA_MPS_PIPE_DIRECTORY=", folder, ")");
  if (!limit.empty()) {
    absl::StrAppend(&text, ", which limits its memory on a device (CUDA_MPS_PINNED_DEVICE_MEM_LIMIT=", limit, ")");
  }
  warnings->push_back(std::move(text));
}

std::string Seconds(double seconds) { return absl::StrFormat("%.2g s", seconds); }

// As cudaGetErrorString has them; the runtime and the driver agree on these numbers.
std::string ErrorText(uint64_t code) {
  switch (code) {
    case 1:
      return "invalid argument";
    case 17:
      return "invalid device pointer";
    case 400:
      return "invalid resource handle";
    case 700:
      return "an illegal memory access was encountered";
    case 709:
      return "context is destroyed";
    case 800:
      return "operation not permitted";
    default:
      return absl::StrCat("error ", code);
  }
}

}  // namespace

void AddRefusedFrees(const Ledger& ledger, StackSymbolizer* symbolizer, std::vector<std::string>* warnings) {
  constexpr size_t kShown = 3;
  std::map<std::pair<std::string, uint64_t>, uint64_t> by_line;
  for (const auto& [by, times] : ledger.refused_frees()) {
    const std::vector<ReportFrame>& frames = symbolizer->Frames(by.first);
    const std::string line = frames.empty() ? "an unknown line" : FrameLocation(frames[OwnFrame(frames).value_or(0)]);
    by_line[{line, by.second}] += times;
  }
  using Row = std::pair<std::pair<std::string, uint64_t>, uint64_t>;
  std::vector<Row> rows(by_line.begin(), by_line.end());
  std::stable_sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) { return a.second > b.second; });
  for (size_t i = 0; i < rows.size() && i < kShown; ++i) {
    const auto& [by, times] = rows[i];
    warnings->push_back(absl::StrCat(Plural(times, "free was", "frees were"), " refused by CUDA (",
                                     ErrorText(by.second), "), called from ", by.first,
                                     ": what they were for is still allocated"));
  }
  if (rows.size() > kShown) {
    warnings->push_back(absl::StrCat("frees were refused at ", rows.size() - kShown, " more lines"));
  }
}

void AddTraceWarnings(const Trace& trace, const Ledger& ledger, const FailureLog& failures,
                      std::vector<std::string>* warnings) {
  const std::string& path = trace.path();
  const auto warn = [&](const auto&... parts) { warnings->push_back(absl::StrCat(path, ": ", parts...)); };
  if (trace.bounded() && trace.counter(schema::COUNTER_STACKS) > 0) {
    uint64_t without = 0;
    for (const Site& site : ledger.sites()) without += site.key.stack == kEmptyStack ? site.allocations : 0;
    if (without > 0) {
      warn(Plural(without, "allocation has", "allocations have"),
           " no call stack: --max-bytes left no room for more than ", trace.counter(schema::COUNTER_STACKS), " stacks");
    }
  }
  if (trace.lost_bytes() > 0) {
    warn("offset ", trace.damage().front().offset, ": ", trace.damage().front().reason, "; ", trace.lost_bytes(),
         " bytes in all could not be used");
  }
  if (const uint64_t lost = trace.lost_events() + ledger.unreadable_events(); lost > 0) {
    warn(lost, " events are missing: what was freed in them is counted as live");
  }
  const double joined_after_s = trace.definitions().process.joined_after_s;
  if (const uint64_t unknown = ledger.unknown_frees(); unknown > 0 && joined_after_s > 0) {
    warn(unknown, unknown == 1 ? " free is" : " frees are",
         " of memory that was allocated before the process was joined: levels are too low by "
         "what it held then");
  } else if (unknown > 0) {
    warn(unknown, unknown == 1 ? " free is" : " frees are",
         " of memory whose allocation is not in the trace (tracing began later, it was lost, or "
         "it was freed twice): what the job held then is not known, and levels may be too low by as much");
  }
  if (trace.past() != nullptr) {
    warn("its size is bounded: of the first ", Seconds(trace.clock().Seconds(trace.past()->last_time)),
         " the sums of each site are exact, but peaks and lifetimes are known to ",
         Seconds(std::ldexp(1, static_cast<int>(trace.past()->bin_shift)) / trace.clock().ticks_per_second()), " only");
  }
  if (const uint64_t full = trace.counter(schema::COUNTER_TABLE_FULL); full > 0) {
    warn("the frees of ", full, " allocations are not known: too many were live");
  }
  for (const auto& [name, reason] : trace.definitions().process.unseen) {
    warn(name, " ", UnseenText(reason));
  }
  AddMps(path, trace.definitions().process, warnings);
  if (failures.count() > failures.all().size()) {
    warn(failures.count(), " allocations failed for lack of memory; the first and the last ", failures.all().size() / 2,
         " are shown");
  }
}

void AddDeviceWarnings(const std::string& path, const std::vector<ReportDevice>& devices,
                       std::vector<std::string>* warnings) {
  for (const ReportDevice& device : devices) {
    if (device.total_bytes == 0 || device.peak.device_used <= device.total_bytes) continue;
    warnings->push_back(absl::StrCat(path, ": device ", device.index, " is given ", device.peak.device_used,
                                     " bytes at its peak and has ", device.total_bytes,
                                     ": frees are missing, or the sizes are wrong"));
  }
}

}  // namespace vramtrack
