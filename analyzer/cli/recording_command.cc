// SPDX-License-Identifier: Apache-2.0
//
// `vramtrack start` and `vramtrack stop`: switch recording on and off, by a word in the header page of the traces. A
// process that was joined looks at it only until it stops; it is joined again.
#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "analyzer/attach/injection.h"
#include "analyzer/attach/target_process.h"
#include "analyzer/base/display_text.h"
#include "analyzer/base/quantity.h"
#include "analyzer/cli/command_parser.h"
#include "analyzer/cli/commands.h"
#include "analyzer/cli/holder_request.h"
#include "analyzer/cli/mapped_header.h"
#include "analyzer/cli/output.h"
#include "analyzer/cli/preload.h"
#include "proto/control_word.h"
#include "vramtrack/vramtrack.h"

namespace vramtrack {
namespace {

// How long to wait for the processes, which look at the word when they call CUDA.
constexpr std::chrono::milliseconds kPatience(1000), kBetweenLooks(5);

struct Process {
  TracingProcess tracing;
  MappedHeader header;
  uint64_t before;  // COUNTER_CONTROL
};

// Runs a command whose only argument names processes.
int RunOnProcesses(CommandParser&& parser, const Arguments& arguments, int (*run)(std::vector<Process>)) {
  std::string target;
  parser.Positional("PID|DIR", &target);
  if (const auto code = parser.Parse(arguments)) return *code;
  std::vector<Process> processes;
  for (const TracingProcess& each : OrFail(FindTracingProcesses(target))) {
    processes.push_back({each, OrFail(MappedHeader::Open(each.trace)), 0});
  }
  return run(std::move(processes));
}

// Returns whether `done` holds for all of them in time.
template <typename Done>
void WaitFor(const std::vector<Process>& processes, Done done) {
  const auto end = std::chrono::steady_clock::now() + kPatience;
  for (const Process& process : processes) {
    while (!done(process) && std::chrono::steady_clock::now() < end) std::this_thread::sleep_for(kBetweenLooks);
  }
}

bool IsIdle(const Process& process) {
  return (process.header.Counter(schema::COUNTER_CONTROL).load() & schema::CONTROL_IDLE) != 0;
}

// Whether the process has stopped and completed its trace, as far as it could.
bool HasStopped(const Process& process) {
  return IsIdle(process) && ((process.before & kControlMask) != 0 || process.header.finished() ||
                             process.header.Counter(schema::COUNTER_STOP_REASON).load() != 0);
}

// The trace that the process writes now: after a stop, a start begins another one.
std::string TraceNow(const Process& process) {
  const auto found = FindTracingProcesses(absl::StrCat(process.tracing.pid));
  return found.ok() && found->front().pid == process.tracing.pid ? found->front().trace : process.tracing.trace;
}

std::string LastPart(const std::string& path) { return path.substr(path.rfind('/') + 1); }

bool Records(const Process& process) {
  return !IsIdle(process) || LastPart(TraceNow(process)) != LastPart(process.tracing.trace);
}

// Whether the process was joined and has given its imports back, so that it does not look at the word any more.
bool HasLeft(const Process& process) {
  return (process.header.Counter(schema::COUNTER_CONTROL).load() & schema::CONTROL_LEFT) != 0;
}

// Joins such a process again, with the options of the last time.
void JoinAgain(pid_t pid) {
  const TargetProcess process = OrFail(TargetProcess::Open(pid));
  Injection injection;
  injection.pid = pid;
  for (const Mapping& mapping : process.mappings()) {
    // The loader knows it by this name, also where the file has been replaced.
    const std::string path(absl::StripSuffix(mapping.path, " (deleted)"));
    if (LastPart(path) == kLibrary) injection.library = path;
  }
  if (injection.library.empty()) {
    throw CommandFailure{absl::StrCat("process ", pid, ": ", kLibrary, " is not loaded any more")};
  }
  const Injected injected = OrFail(Inject(injection));
  if (injected.result == VRAMTRACK_NOT_POSSIBLE) {
    throw CommandFailure{absl::StrCat("process ", pid, ": ", injected.message)};
  }
}

int Start(std::vector<Process> processes) {
  std::vector<std::string> problems(processes.size());  // of those that could not be joined again
  for (size_t i = 0; i < processes.size(); ++i) {
    Process& process = processes[i];
    std::atomic<uint64_t>& control = process.header.Counter(schema::COUNTER_CONTROL);
    process.before = control.load();
    if (!HasLeft(process)) {
      process.before = control.fetch_and(~uint64_t{schema::CONTROL_STOP});
      continue;
    }
    try {
      JoinAgain(process.tracing.pid);
    } catch (const CommandFailure& failure) {
      problems[i] = failure.line;
    }
  }
  WaitFor(processes, [](const Process& process) { return HasLeft(process) || Records(process); });
  OutputStream out;
  int code = kExitFine;
  for (size_t i = 0; i < processes.size(); ++i) {
    const Process& process = processes[i];
    if (!problems[i].empty()) {
      code = BadInput(problems[i]);
      continue;
    }
    std::string line = absl::StrCat("process ", process.tracing.pid, ": ");
    if ((process.before & kControlMask) == 0) {
      absl::StrAppend(&line, "was recording already, to ", Printable(process.tracing.trace));
    } else if (!Records(process)) {
      absl::StrAppend(&line, "records from its next CUDA call on");
    } else {
      absl::StrAppend(&line, "recording to ", Printable(TraceNow(process)));
    }
    const uint64_t calls = process.before >> kControlCountShift;
    if (calls != 0) absl::StrAppend(&line, "; about ", FormatCount(calls), " calls before were not recorded");
    out.Write(line + "\n");
  }
  const int written = out.Finish();
  return written != kExitFine ? written : code;
}

int Stop(std::vector<Process> processes) {
  for (Process& process : processes) {
    process.before = process.header.Counter(schema::COUNTER_CONTROL).fetch_or(schema::CONTROL_STOP);
  }
  WaitFor(processes, HasStopped);
  OutputStream out;
  for (const Process& process : processes) {
    std::string line = absl::StrCat("process ", process.tracing.pid, ": ");
    const std::string trace = Printable(process.tracing.trace);
    if ((process.before & kControlMask) != 0) {
      absl::StrAppend(&line, "was not recording");
    } else if (HasStopped(process)) {
      absl::StrAppend(&line, "stopped; ", trace, " is complete");
    } else {
      absl::StrAppend(&line, "stopped; ", trace, " is completed by its next CUDA call");
    }
    out.Write(line + "\n");
  }
  return out.Finish();
}

}  // namespace

int StartCommand(const Arguments& arguments) {
  return RunOnProcesses(
      CommandParser("start PID|DIR",
                    "Switch recording on in processes that run --dormant has started or that stop has stopped. For a "
                    "folder of traces, all processes that write one are started at once; for a launcher, all that it "
                    "has started. After a stop, a process begins a new trace."),
      arguments, Start);
}

int StopCommand(const Arguments& arguments) {
  return RunOnProcesses(
      CommandParser("stop PID|DIR",
                    "Switch recording off in processes that are recorded, and complete their traces. For a folder of "
                    "traces, all processes that write one are stopped at once; for a launcher, all that it has "
                    "started. The processes go on."),
      arguments, Stop);
}

}  // namespace vramtrack
