// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "analyzer/cli/commands.h"
#include "analyzer/cli/fatal_end.h"
#include "analyzer/cli/output.h"
#include "analyzer/cli/preload.h"
#include "analyzer/cli/progress.h"
#include "analyzer/cli/shared_options.h"
#include "analyzer/cli/trace_folder.h"
#include "analyzer/ingest/trace_choice.h"
#include "analyzer/pipeline/analyze.h"
#include "analyzer/render/text/page.h"
#include "analyzer/render/text/text.h"
#include "proto/run_id.h"

namespace vramtrack {
namespace {

struct RunArguments {
  RecorderOptions recorder;
  bool cupti = false, dormant = false, quiet = false;
  std::string cupti_records;
  std::vector<std::string> command;
  // Names of the options of `run`, set if no separator divides them from those of the command: for a hint if the
  // command fails.
  std::vector<std::string> own_options;
};

struct ChildResult {
  int wait_status = 0;  // the status from waitpid
  // errno if the command could not be started, otherwise 0. If set, the other fields are meaningless.
  int start_error = 0;
};

constexpr int kForwarded[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP};
constexpr int kForwardedCount = sizeof(kForwarded) / sizeof(kForwarded[0]);

volatile sig_atomic_t child_pid = 0;

void Forward(int signal, siginfo_t* info, void*) {
  // The kernel's own come from the terminal, and go to all of its foreground group.
  if (info->si_code == SI_KERNEL || child_pid <= 0) return;
  int saved = errno;
  kill(child_pid, signal);
  errno = saved;
}

// In the child: starts the command, or tells the parent through `report` why not.
[[noreturn]] void StartCommand(const std::vector<std::string>& command,
                               const std::vector<std::pair<std::string, std::string>>& environment, int report) {
  std::vector<char*> arguments;
  for (const std::string& argument : command) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  for (const auto& [name, value] : environment) setenv(name.c_str(), value.c_str(), 1);
  execvp(arguments[0], arguments.data());
  int error = errno;
  [[maybe_unused]] ssize_t written = write(report, &error, sizeof error);
  _exit(error == ENOENT ? kExitNotFound : kExitCannotExecute);
}

// Starts `command` (searched for in PATH) with `environment` added to this process's own, and waits until it exits.
// Meanwhile SIGINT, SIGQUIT, SIGTERM and SIGHUP do not end this process: signals sent to this process alone are
// forwarded to the command; signals from the terminal have already reached the command. Not thread-safe.
ChildResult RunChild(const std::vector<std::string>& command,
                     const std::vector<std::pair<std::string, std::string>>& environment) {
  ChildResult result;
  int pipes[2];
  if (pipe2(pipes, O_CLOEXEC) != 0) {
    result.start_error = errno;
    return result;
  }

  // None of them may come between the fork and the moment when the child's number is known.
  sigset_t forwarded, before;
  sigemptyset(&forwarded);
  for (int signal : kForwarded) sigaddset(&forwarded, signal);
  sigprocmask(SIG_BLOCK, &forwarded, &before);

  pid_t pid = fork();
  if (pid < 0) {
    result.start_error = errno;
    sigprocmask(SIG_SETMASK, &before, nullptr);
    close(pipes[0]);
    close(pipes[1]);
    return result;
  }
  if (pid == 0) {
    sigprocmask(SIG_SETMASK, &before, nullptr);
    StartCommand(command, environment, pipes[1]);
  }

  struct sigaction old_actions[kForwardedCount];
  child_pid = pid;
  for (int i = 0; i < kForwardedCount; ++i) {
    sigaction(kForwarded[i], nullptr, &old_actions[i]);
    if (old_actions[i].sa_handler == SIG_IGN) continue;  // as nohup left it
    struct sigaction action = {};
    action.sa_sigaction = Forward;
    action.sa_flags = SA_SIGINFO | SA_RESTART;
    sigaction(kForwarded[i], &action, nullptr);
  }
  sigprocmask(SIG_SETMASK, &before, nullptr);

  close(pipes[1]);
  ssize_t bytes;
  do {
    bytes = read(pipes[0], &result.start_error, sizeof result.start_error);
  } while (bytes < 0 && errno == EINTR);
  if (bytes != sizeof result.start_error) result.start_error = 0;
  close(pipes[0]);

  while (waitpid(pid, &result.wait_status, 0) < 0 && errno == EINTR) {
  }
  child_pid = 0;
  for (int i = 0; i < kForwardedCount; ++i) sigaction(kForwarded[i], &old_actions[i], nullptr);
  return result;
}

// Ends this process in the same way as the one with `wait_status`: with its exit code or by its signal.
[[noreturn]] void EndLike(int wait_status) {
  if (!WIFSIGNALED(wait_status)) _exit(WEXITSTATUS(wait_status));
  int signal = WTERMSIG(wait_status);
  // The command's memory image, if it left one, is the one that somebody wants to see.
  rlimit none = {0, 0};
  setrlimit(RLIMIT_CORE, &none);
  struct sigaction action = {};
  action.sa_handler = SIG_DFL;
  sigaction(signal, &action, nullptr);
  sigset_t only;
  sigemptyset(&only);
  sigaddset(&only, signal);
  sigprocmask(SIG_UNBLOCK, &only, nullptr);
  raise(signal);
  _exit(128 + signal);
}

std::string NewRunId() {
  std::random_device random;
  std::string id;
  for (int word = 0; word < 4; ++word) absl::StrAppend(&id, absl::Hex(random(), absl::kZeroPad8));
  return id;
}

// The id that the traces of this run will have. Within a job step or under torchrun, this process is one of several of
// the same run. A job's script or shell may start one run after the other.
struct RunId {
  std::string id;
  bool is_new;
};

RunId ThisRun() {
  char id[256];
  switch (FindRunId(getenv, id, sizeof id)) {
    case RunIdSource::kOwn:
    case RunIdSource::kJobStep:
    case RunIdSource::kTorchrun:
      return {id, false};
    case RunIdSource::kJob:
    case RunIdSource::kNone:
      break;
  }
  return {NewRunId(), true};
}

std::vector<std::pair<std::string, std::string>> TracingEnvironment(const RunArguments& given, const RunId& run,
                                                                    const std::string& library,
                                                                    const TraceFolder& folder) {
  const char* preload = getenv("LD_PRELOAD");
  std::vector<std::pair<std::string, std::string>> environment = {
      {"LD_PRELOAD", AddToPreload(library, preload == nullptr ? "" : preload)},
      {"VRAMTRACK_OUTPUT", folder.OutputPattern()},
  };
  // NVTX knows one tool only: one that is there already keeps its place.
  if (getenv("NVTX_INJECTION64_PATH") == nullptr) environment.emplace_back("NVTX_INJECTION64_PATH", library);
  if (run.is_new) environment.emplace_back("VRAMTRACK_RUN_ID", run.id);
  const auto variables = given.recorder.Variables();
  environment.insert(environment.end(), variables.begin(), variables.end());
  if (given.cupti || !given.cupti_records.empty()) environment.emplace_back("VRAMTRACK_CUPTI", "1");
  if (!given.cupti_records.empty()) environment.emplace_back("VRAMTRACK_CUPTI_RECORDS", given.cupti_records);
  if (given.dormant) environment.emplace_back("VRAMTRACK_DORMANT", "1");
  return environment;
}

int CannotStart(const RunArguments& given, int error) {
  const std::vector<std::string>& words = given.command;
  const std::string& command = words[0];
  const bool exists = access(command.c_str(), F_OK) == 0, is_path = command.find('/') != std::string::npos;
  std::string meant;
  if (exists && absl::EndsWith(command, ".py")) {
    meant = "python " + absl::StrJoin(words, " ");
  } else if (exists && !is_path) {
    meant = "./" + absl::StrJoin(words, " ");
  }
  if (!meant.empty()) meant = absl::StrCat("; did you mean: vramtrack run -- ", meant, "?");
  if (!given.recorder.holders.empty() && IsHolderMoments(command)) {
    meant = absl::StrCat("; did you mean --holders=", command, "?");
  }
  if (error == ENOENT) {
    // A path that exists but cannot be started names an interpreter that does not exist.
    Say(absl::StrCat(command, exists && is_path ? ": its interpreter is not installed" : ": command not found", meant));
    return kExitNotFound;
  }
  Say(absl::StrCat(command, ": cannot start: ", strerror(error), meant));
  return kExitCannotExecute;
}

// Reports an option of `run` after the command's name if the command failed: the command got it.
void HintAtMisplacedOption(const RunArguments& given, int status) {
  if (given.quiet || !WIFEXITED(status) || WEXITSTATUS(status) == 0) return;
  // Many programs have options of these names. 2 is what they exit with if they do not.
  const std::set<std::string> common = {"--output", "-o", "--quiet", "-q", "--help", "-h", "--version"};
  for (size_t i = 1; i < given.command.size(); ++i) {
    const std::string name = given.command[i].substr(0, given.command[i].find('='));
    const auto& own = given.own_options;
    if (std::find(own.begin(), own.end(), name) == own.end()) continue;
    if (common.count(name) != 0 && WEXITSTATUS(status) != 2) continue;
    Say(absl::StrCat(name, " comes after the command, so ", given.command[0],
                     " got it; options of vramtrack run must come before the command"));
    return;
  }
}

// The traces of the run that the command belongs to. Other processes of the same job may have started before it, and
// while it ran, other jobs may have written to the folder.
std::vector<std::string> TracesOfRun(const TraceFolder& folder, const std::string& run_id) {
  const std::vector<std::string> fresh = folder.NewTraces();
  std::map<std::string, std::optional<std::string>> id_of;
  std::set<std::string> ids;
  for (const std::string& trace : fresh) {
    const std::optional<std::string>& id = id_of[trace] = RunIdOf(trace);
    if (id) ids.insert(*id);
  }
  const std::string id = ids.count(run_id) != 0 ? run_id : ids.size() == 1 ? *ids.begin() : "";
  if (id.empty()) return fresh;
  std::vector<std::string> traces = folder.AllTraces();
  const auto other = [&](const std::string& trace) {
    const auto found = id_of.find(trace);
    if (found == id_of.end()) return RunIdOf(trace) != id;
    return found->second && *found->second != id;  // a new one that cannot be read stays
  };
  traces.erase(std::remove_if(traces.begin(), traces.end(), other), traces.end());
  return traces;
}

// Says which command prints the full report of `traces`: given the folder, `vramtrack report` may choose another run.
// `why`: the beginning of the line.
void PointToReport(const TraceFolder& folder, const std::vector<std::string>& traces, const std::string& why) {
  const absl::StatusOr<TraceChoice> choice = ChooseTraces(folder.path(), false);
  const bool same = choice.ok() && choice->paths == traces;
  if (same && !choice->left_out.empty()) Say(choice->left_out);
  if (same || traces.size() > 1) {
    Say(absl::StrCat(why, "full report: vramtrack report ", folder.path(),
                     same ? "" : " (the folder also holds other runs, which it may show instead)"));
  } else {
    Say(absl::StrCat(why, "full report: vramtrack report ", traces[0], " (", folder.path(), " also holds other runs)"));
  }
}

// How long the job may wait for its short report.
double SecondsForReport() {
  constexpr double kDefault = 2;
  const char* given = getenv("VRAMTRACK_REPORT_SECONDS");
  if (given == nullptr || *given == '\0') return kDefault;
  double seconds = 0;
  if (absl::SimpleAtod(given, &seconds) && seconds >= 0 && std::isfinite(seconds)) return std::min(seconds, 1e6);
  Say(absl::StrCat("VRAMTRACK_REPORT_SECONDS: invalid number '", given, "' (expected seconds, 0 or more)"));
  return kDefault;
}

// The job has ended and its caller waits: a long analysis is left alone after a while. It lives until this process
// ends.
struct ShortAnalysis {
  std::vector<std::string> traces;
  AnalysisProgress far;
  AnalyzeOptions options;
  absl::StatusOr<Report> report;
};

void PrintShortReport(const TraceFolder& folder, const std::vector<std::string>& traces) {
  const double seconds = SecondsForReport();
  const auto analysis = std::make_shared<ShortAnalysis>();
  analysis->traces = traces;
  analysis->options.progress = &analysis->far;
  const bool ended = seconds > 0 && [&] {
    Progress progress("analyzing " + folder.path(), &analysis->far);
    return EndsWithin(std::chrono::duration<double>(seconds),
                      [analysis] { analysis->report = Analyze(analysis->traces, analysis->options); });
  }();
  if (!ended) {
    const std::string why = seconds > 0 ? absl::StrCat("the analysis takes longer than ", seconds, " s; ") : "";
    return PointToReport(folder, traces, why);
  }
  if (!analysis->report.ok()) {
    Say(std::string(analysis->report.status().message()));
    return;
  }
  std::string text = RenderText(*analysis->report, DetectStyle(STDERR_FILENO, ColorMode::kAuto));
  [[maybe_unused]] ssize_t written = write(STDERR_FILENO, text.data(), text.size());
  PointToReport(folder, traces, "");
}

// Why a command that could be traced left no trace.
std::string WhyNoTrace(const std::string& folder) {
  constexpr uint64_t kLeast = 1 << 20;  // a trace begins with so much
  struct statvfs disk = {};
  if (access(folder.c_str(), W_OK) != 0) return absl::StrCat("cannot write to ", folder, ": ", strerror(errno));
  if (statvfs(folder.c_str(), &disk) == 0 && uint64_t{disk.f_bavail} * disk.f_frsize < kLeast) {
    return absl::StrCat("was not recorded: no space left in ", folder);
  }
  return "never called CUDA";
}

// Of the command, once it has ended.
int wait_status;

int Run(const RunArguments& given) {
  const std::string library = OrFail(FindPreloadLibrary(OwnProgram()));
  TraceFolder folder;
  OrFail(folder.Open(given.recorder.output));

  const std::string& command = given.command[0];
  const std::string program = FindProgram(command);
  const std::string obstacle = program.empty() ? "" : WhyNotTraceable(program);
  if (!obstacle.empty() && !given.quiet) {
    Say(absl::StrCat(command, " ", obstacle, ", so it cannot be traced; it runs untraced"));
  }

  const RunId run = ThisRun();
  const ChildResult child = RunChild(given.command, TracingEnvironment(given, run, library, folder));
  if (child.start_error != 0) {
    folder.RemoveIfEmpty();
    return CannotStart(given, child.start_error);
  }

  // No error from here on changes the exit code of the command, not even a closed stderr.
  signal(SIGPIPE, SIG_IGN);
  wait_status = child.wait_status;
  EndFatallyWith([] { EndLike(wait_status); });
  HintAtMisplacedOption(given, wait_status);
  const std::vector<std::string> traces = TracesOfRun(folder, run.id);
  if (traces.empty()) {
    if (!given.quiet) {
      const std::string why =
          given.dormant ? "ended before recording was started (vramtrack start)" : WhyNoTrace(folder.path());
      Say(absl::StrCat("no trace was written: ", command, " ", obstacle.empty() ? why : obstacle));
    }
    folder.RemoveIfEmpty();
  } else if (!given.quiet) {
    PrintShortReport(folder, traces);
  }
  EndLike(child.wait_status);
}

}  // namespace

int RunCommand(const Arguments& arguments) {
  RunArguments given;
  CommandParser parser("run [OPTION...] [--] COMMAND [ARG...]",
                       "Run COMMAND and record the CUDA allocations of it and of all processes that it starts. A short "
                       "report follows on standard error. Input, output and exit code are those of COMMAND.");
  AddRecorder(&parser, &given.recorder);
  parser.Flag("--cupti", &given.cupti,
              "also record CUPTI memory activity; do not combine it with Nsight or torch.profiler, a process can have "
              "only one CUPTI client");
  parser.Option("--cupti-records", "LIST", &given.cupti_records,
                "the CUPTI records to collect (default: memory,pools): memory, pools, kernels, copies, fills");
  parser.Rare();
  parser.Flag("--dormant", &given.dormant, "record nothing until `vramtrack start`");
  parser.Flag("-q,--quiet", &given.quiet, "print no report at the end");
  parser.StopAtFirstWord();
  parser.Ending(
      "Options must come before COMMAND; the rest of the line belongs to COMMAND.\n"
      "Exit code: that of COMMAND, 126 if COMMAND cannot be started, 127 if it is not found, 2 if tracing cannot "
      "begin. If a signal kills COMMAND, vramtrack ends by the same signal.");
  auto marker = std::find(arguments.begin(), arguments.end(), "--");
  if (const auto code = parser.Parse(Arguments(arguments.begin(), marker))) return *code;
  given.command = parser.Rest();
  if (!given.command.empty() && given.command[0][0] == '-') return parser.UnknownOption(given.command[0]);
  // A "--" after the command's name is the command's own.
  if (marker != arguments.end() && given.command.empty()) {
    ++marker;
  } else {
    given.own_options = parser.Names();
  }
  given.command.insert(given.command.end(), marker, arguments.end());
  if (given.command.empty() || given.command[0].empty()) return parser.Wrong("COMMAND is missing");
  if (const std::string wrong = given.recorder.Check(); !wrong.empty()) return BadInput(wrong);
  return Run(given);
}

}  // namespace vramtrack
