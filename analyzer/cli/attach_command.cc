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
#include "analyzer/cli/shared_options.h"
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
void CheckLibrary(int pid, const std::string& root, const std::string& path) {
  struct stat own, other;
  const std::string there = absl::StrCat("/proc/", pid, "/root", path);
  const bool found = stat(there.c_str(), &other) == 0;
  if (!found && errno != ENOENT && errno != ENOTDIR) return;  // it will say so itself
  if (found && stat(path.c_str(), &own) == 0 && own.st_size == other.st_size) return;
  throw CommandFailure{
      absl::StrCat(NameOf(pid), root.empty() ? ": does not find " : ": runs in a container that has no ", path,
                   root.empty() ? ", because it has a folder of its own in this place" : "",
                   " (mount it there under the same path, or copy it there and to the same path here and name it in "
                   "VRAMTRACK_LIBRARY)")};
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

struct AttachArguments {
  int pid = 0;
  RecorderOptions recorder;
  double limit_s = 10;
};

// The folder, which the process must be able to write to, and the pattern of its traces as the process sees it.
std::string OpenFolder(const AttachArguments& given, const std::string& root, TraceFolder* folder) {
  const std::string& output = given.recorder.output;
  if (!root.empty() && (output.empty() || output[0] != '/')) {
    throw CommandFailure{
        absl::StrCat(NameOf(given.pid), ": runs in a container; name one of its folders by an absolute path (-o)")};
  }
  OrFail(folder->Open(output, root));
  struct stat process;
  if (folder->made() && geteuid() == 0 && stat(absl::StrCat("/proc/", given.pid).c_str(), &process) == 0 &&
      !folder->GiveTo(process.st_uid, process.st_gid)) {
    // The process says so if it cannot write there.
  }
  std::string pattern = root.empty() ? folder->OutputPattern() : output + "/vramtrack.%h.%p.vtrace";
  if (pattern.find('\n') != std::string::npos) throw CommandFailure{"-o: a folder with a line break"};
  return pattern;
}

int Attach(const AttachArguments& given, const std::string& library, const std::string& root) {
  TraceFolder folder;
  Injection injection;
  injection.pid = given.pid;
  injection.library = library;
  injection.options = absl::StrCat("VRAMTRACK_OUTPUT=", OpenFolder(given, root, &folder), "\n");
  for (const auto& [name, value] : given.recorder.Variables()) {
    absl::StrAppend(&injection.options, name, "=", value, "\n");
  }
  injection.limit_s = given.limit_s;
  const absl::StatusOr<Injected> injected = Inject(injection);
  if (!injected.ok() || injected->result == VRAMTRACK_NOT_POSSIBLE || injected->result == VRAMTRACK_ALREADY_RECORDING) {
    const bool already = injected.ok() && injected->result == VRAMTRACK_ALREADY_RECORDING;
    // Another attach, which came first, may be about to use the folder.
    if (!already && !absl::IsAborted(injected.status())) folder.RemoveIfEmpty();
    OrFail(injected.status());
    return BadInput(
        absl::StrCat(NameOf(given.pid), ": ", already ? "is recorded already, to " : "", injected->message));
  }
  OutputStream out;
  out.Write(absl::StrFormat("%s: recording to %s; one thread paused for %.1f ms\n", NameOf(given.pid),
                            Printable(root + injected->message), injected->pause_s * 1000));
  if (injected->result == VRAMTRACK_STARTED_WITHOUT_CALLERS) {
    Say(absl::StrCat(NameOf(given.pid),
                     ": no loaded library calls CUDA yet; libraries that are loaded later are recorded, but not a "
                     "runtime that is linked statically and has begun already"));
  }
  return out.Finish();
}

}  // namespace

int AttachCommand(const Arguments& arguments) {
  AttachArguments given;
  CommandParser parser(
      "attach [OPTION...] PID",
      "Join a process that was started without vramtrack, and record its CUDA allocations from now on. "
      "What it has allocated before is unknown, and verdicts use what it allocates afterwards. It "
      "needs the permission to trace the process with ptrace, as a debugger does.");
  parser.Positional("PID", &given.pid)->check(WholeNumber(1, INT_MAX));
  AddRecorder(&parser, &given.recorder);
  parser
      .Option("--timeout", "SECONDS", &given.limit_s,
              "how long to look for a moment at which a thread can be used (default: 10)")
      ->check(Number(0.1, 3600.0));
  parser.Ending("Exit code: 0 the process is recorded, 2 bad input or usage, or it cannot be joined.");
  if (const auto code = parser.Parse(arguments)) return *code;

  const int pid = given.pid;
  if (const std::string wrong = given.recorder.Check(); !wrong.empty()) return BadInput(wrong);
  if (pid == getpid()) return BadInput("cannot attach to vramtrack itself");
  // Before what depends on the process: under an emulator its program is the emulator.
  OrFail(CheckInjectable(pid));
  const std::string library = OrFail(FindPreloadLibrary(OwnProgram()));
  if (OrFail(TargetProcess::Open(pid)).HasFile(kLibrary)) {
    if (const std::string why = WhyNotAgain(pid); !why.empty()) return BadInput(why);
  }
  const std::string root = RootOf(pid);
  CheckLibrary(pid, root, library);
  return Attach(given, library, root);
}

}  // namespace vramtrack
