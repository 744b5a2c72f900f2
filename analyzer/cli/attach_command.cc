// SPDX-License-Identifier: Apache-2.0
//
// `vramtrack attach`: joins a process that was started without vramtrack.
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "analyzer/attach/injection.h"
#include "analyzer/attach/target_process.h"
#include "analyzer/base/display_text.h"
#include "analyzer/cli/commands.h"
#include "analyzer/cli/holder_request.h"
#include "analyzer/cli/output.h"
#include "analyzer/cli/preload.h"
#include "analyzer/cli/trace_folder.h"
#include "proto/control_word.h"
#include "vramtrack/vramtrack.h"

namespace vramtrack {
namespace {

std::string NameOf(int pid) { return absl::StrCat("process ", pid); }

// What leads to files as the process sees them: "" if it sees those that this one sees.
std::string RootOf(int pid) {
  const std::string root = absl::StrCat("/proc/", pid, "/root");
  struct stat own, other;
  const bool same = stat("/", &own) == 0 && stat((root + "/").c_str(), &other) == 0 && own.st_dev == other.st_dev &&
                    own.st_ino == other.st_ino;
  return same ? "" : root;
}

// Whether the process finds the same file under `path`. It may share the root and still have folders of its own.
absl::Status CheckLibrary(int pid, const std::string& root, const std::string& path) {
  struct stat own, other;
  const std::string there = absl::StrCat("/proc/", pid, "/root", path);
  const bool found = stat(there.c_str(), &other) == 0;
  if (!found && errno != ENOENT && errno != ENOTDIR) return absl::OkStatus();  // it will say so itself
  if (found && stat(path.c_str(), &own) == 0 && own.st_size == other.st_size) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat(NameOf(pid), root.empty() ? ": does not find " : ": runs in a container that has no ", path,
                   root.empty() ? ", because it has a folder of its own in this place" : "",
                   " (mount it there under the same path, or copy it there and to the same path here and name it in "
                   "VRAMTRACK_LIBRARY)"));
}

// Why a process that has the library already need not be joined; empty if an earlier attempt to record it has failed.
std::string WhyNotAgain(int pid) {
  const absl::StatusOr<std::vector<TracingProcess>> found = FindTracingProcesses(absl::StrCat(pid));
  if (!found.ok() || found->front().pid != pid) {
    std::ifstream file(absl::StrCat("/proc/", pid, "/environ"), std::ios::binary);
    bool preloaded = false;
    for (std::string variable; std::getline(file, variable, '\0');) {
      preloaded |= absl::StartsWith(variable, "LD_PRELOAD=") && absl::StrContains(variable, kLibrary);
    }
    if (!preloaded) return "";
    return absl::StrCat(NameOf(pid), ": was started with ", kLibrary, ", and is recorded from its first CUDA call on");
  }
  const std::string& trace = found->front().trace;
  const absl::StatusOr<MappedHeader> header = MappedHeader::Open(trace);
  if (header.ok() && (header->Counter(schema::COUNTER_CONTROL).load() & kControlMask) != 0) {
    return absl::StrCat(NameOf(pid), ": has ", kLibrary, " already and does not record; to go on: vramtrack start ",
                        pid);
  }
  return absl::StrCat(NameOf(pid), ": is recorded already, to ", trace);
}

// The folder, which the process must be able to write to, and the pattern of its traces as the process sees it.
absl::Status OpenFolder(const AttachOptions& options, const std::string& root, TraceFolder* folder,
                        std::string* pattern) {
  if (!root.empty() && (options.output.empty() || options.output[0] != '/')) {
    return absl::InvalidArgumentError(
        absl::StrCat(NameOf(options.pid), ": runs in a container; name one of its folders by an absolute path (-o)"));
  }
  if (absl::Status opened = folder->Open(options.output, root); !opened.ok()) return opened;
  struct stat process;
  if (folder->made() && geteuid() == 0 && stat(absl::StrCat("/proc/", options.pid).c_str(), &process) == 0 &&
      !folder->GiveTo(process.st_uid, process.st_gid)) {
    // The process says so if it cannot write there.
  }
  *pattern = root.empty() ? folder->OutputPattern() : options.output + "/vramtrack.%h.%p.vtrace";
  if (pattern->find('\n') != std::string::npos) return absl::InvalidArgumentError("-o: a folder with a line break");
  return absl::OkStatus();
}

std::string Options(const AttachOptions& options, const std::string& pattern) {
  std::string lines = absl::StrCat("VRAMTRACK_OUTPUT=", pattern, "\n");
  if (!options.stacks.empty()) absl::StrAppend(&lines, "VRAMTRACK_STACKS=", options.stacks, "\n");
  if (!options.max_frames.empty()) absl::StrAppend(&lines, "VRAMTRACK_MAX_FRAMES=", options.max_frames, "\n");
  if (!options.max_bytes.empty()) absl::StrAppend(&lines, "VRAMTRACK_MAX_BYTES=", options.max_bytes, "\n");
  if (!options.holders.empty()) absl::StrAppend(&lines, "VRAMTRACK_HOLDERS=", options.holders, "\n");
  return lines;
}

int Attach(const AttachOptions& options, const std::string& library, const std::string& root) {
  TraceFolder folder;
  std::string pattern;
  if (absl::Status opened = OpenFolder(options, root, &folder, &pattern); !opened.ok()) {
    return BadInput(std::string(opened.message()));
  }
  Injection injection;
  injection.pid = options.pid;
  injection.library = library;
  injection.options = Options(options, pattern);
  injection.limit_s = options.limit_s;
  const absl::StatusOr<Injected> injected = Inject(injection);
  if (!injected.ok() || injected->result == VRAMTRACK_NOT_POSSIBLE || injected->result == VRAMTRACK_ALREADY_RECORDING) {
    const bool already = injected.ok() && injected->result == VRAMTRACK_ALREADY_RECORDING;
    // Another attach, which came first, may be about to use the folder.
    if (!already && !absl::IsAborted(injected.status())) folder.RemoveIfEmpty();
    if (!injected.ok()) return BadInput(std::string(injected.status().message()));
    return BadInput(
        absl::StrCat(NameOf(options.pid), ": ", already ? "is recorded already, to " : "", injected->message));
  }
  StandardOutput out;
  out.Write(absl::StrFormat("%s: recording to %s; one of its threads stood still for %.1f ms\n", NameOf(options.pid),
                            Printable(root + injected->message), injected->pause_s * 1000));
  if (injected->result == VRAMTRACK_STARTED_WITHOUT_CALLERS) {
    Say(absl::StrCat(NameOf(options.pid),
                     ": no loaded library calls CUDA yet; libraries that are loaded later are recorded, but not a "
                     "runtime that is linked statically and has begun already"));
  }
  return out.Finish();
}

}  // namespace

int RunAttach(const AttachOptions& options) {
  if (options.pid == getpid()) return BadInput("cannot attach to vramtrack itself");
  // Before what depends on the process: under an emulator its program is the emulator.
  if (absl::Status possible = CheckInjectable(options.pid); !possible.ok()) {
    return BadInput(std::string(possible.message()));
  }
  const absl::StatusOr<std::string> library = FindPreloadLibrary(OwnProgram());
  if (!library.ok()) return BadInput(std::string(library.status().message()));
  const absl::StatusOr<TargetProcess> process = TargetProcess::Open(options.pid);
  if (!process.ok()) return BadInput(std::string(process.status().message()));
  if (process->HasFile(kLibrary)) {
    if (const std::string why = WhyNotAgain(options.pid); !why.empty()) return BadInput(why);
  }
  const std::string root = RootOf(options.pid);
  if (absl::Status visible = CheckLibrary(options.pid, root, *library); !visible.ok()) {
    return BadInput(std::string(visible.message()));
  }
  return Attach(options, *library, root);
}

}  // namespace vramtrack
