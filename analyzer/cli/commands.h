// SPDX-License-Identifier: Apache-2.0
//
// The commands and their options, as given on the command line. Every Run function returns an exit code.
#ifndef ANALYZER_CLI_COMMANDS_H_
#define ANALYZER_CLI_COMMANDS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "analyzer/check/limits.h"
#include "analyzer/render/text/page.h"

namespace vramtrack {

struct RunOptions {
  // The folder for traces; empty: a new folder named after the time.
  std::string output;
  std::string stacks;         // VRAMTRACK_STACKS; this and the next three: empty to use the environment
  std::string max_frames;     // VRAMTRACK_MAX_FRAMES
  std::string max_bytes;      // VRAMTRACK_MAX_BYTES
  bool cupti = false;         // VRAMTRACK_CUPTI
  std::string cupti_records;  // VRAMTRACK_CUPTI_RECORDS
  std::string holders;        // VRAMTRACK_HOLDERS; empty to use the environment
  bool dormant = false;       // VRAMTRACK_DORMANT: record nothing until `vramtrack start`
  bool quiet = false;         // neither a report at the end nor a line about untraced processes
  std::vector<std::string> command;
  // Names of the options of `run`, set if no separator divides them from those of the command: for a hint if the
  // command fails.
  std::vector<std::string> own_options;
};

// Runs `vramtrack run`: traces the command and, unless `quiet`, prints a short report on stderr. Returns the exit code
// of the command if it was started. Does not return if a signal ended the command.
int RunRun(const RunOptions& options);

struct AttachOptions {
  int pid = 0;
  std::string output;      // the folder for traces; empty: a new folder named after the time
  std::string stacks;      // VRAMTRACK_STACKS; this and the next three: empty to use the environment of the process
  std::string max_frames;  // VRAMTRACK_MAX_FRAMES
  std::string max_bytes;   // VRAMTRACK_MAX_BYTES
  std::string holders;     // VRAMTRACK_HOLDERS
  double limit_s = 10;     // how long to look for a safe moment
};

// Runs `vramtrack attach`: loads the library into a process that runs, and starts recording there.
int RunAttach(const AttachOptions& options);

struct RecordingOptions {
  std::string target;  // a process number, a trace or a folder of traces
};

// Run `vramtrack start` and `vramtrack stop`: switch recording on or off in processes that have the library.
int RunStart(const RecordingOptions& options);
int RunStop(const RecordingOptions& options);

struct HoldersOptions {
  std::string target;       // a process number, a trace or a folder of traces
  uint64_t timeout_s = 30;  // how long to wait for each process
};

// Runs `vramtrack holders`: asks running processes to find what holds their memory, and waits for them.
int RunHolders(const HoldersOptions& options);

struct TopOptions {
  std::string target = ".";  // a process number, a trace or a folder of traces
  double interval_s = 1;     // the least time between two looks, in seconds
  bool once = false;         // print one look and end
  bool json = false;         // print a report in JSON for each look, one per line
  size_t top = 20;           // rows where there is no screen
  std::string step_marks;    // as in AnalyzeOptions
  std::string categories;    // a file of rules; empty: none
  std::vector<std::string> search_paths;
  ColorMode color = ColorMode::kAuto;
};

// Runs `vramtrack top`: shows the lines of a running job on the whole terminal, sorted by how fast they grow.
int RunTop(const TopOptions& options);

struct ViewOptions {
  std::string target;      // a process number, a trace or a folder of traces
  uint16_t port = 0;       // 0: any free one
  double interval_s = 1;   // the least time between two looks, in seconds
  bool browser = true;     // open one
  bool source = true;      // show source lines
  std::string step_marks;  // as in AnalyzeOptions
  std::string categories;  // a file of rules; empty: none
  std::vector<std::string> search_paths;
};

// Runs `vramtrack view`: serves the page of a job, which follows it while it runs. Returns after an error, or when the
// terminal is gone.
int RunView(const ViewOptions& options);

struct WatchOptions {
  std::string target;            // a process number, a trace or a folder of traces
  std::string on_leak, on_full;  // commands for the shell; empty: none
  double seconds_to_full = 3600;
  std::string listen;      // serve metrics at this address; empty: none
  double interval_s = 10;  // the least time between two looks, in seconds
  bool once = false;       // look once and end
  bool waits = false;      // for the first trace, if there is none yet
  std::string step_marks;  // as in AnalyzeOptions
  std::string categories;  // a file of rules; empty: none
  std::vector<std::string> search_paths;
};

// Runs `vramtrack watch`: runs the commands for each new leak, and for each device that will soon be full. Returns only
// after an error, or with `once`.
int RunWatch(const WatchOptions& options);

struct ReportOptions {
  std::vector<std::string> traces;  // files or folders, all of one job
  std::string format = "text";      // or "json", "html"
  std::string output;               // empty or "-": standard output
  size_t top = 10;
  bool raw_stacks = false;
  bool all_runs = false;   // use all runs of a folder; see ChooseTraces
  std::string step_marks;  // as in AnalyzeOptions
  std::string categories;  // a file of rules; empty: none
  std::vector<std::string> search_paths;
  uint64_t horizon_steps = 100000;  // as in AnalyzeOptions
  size_t threads = 0;               // as in AnalyzeOptions
  bool explain_passes = false;      // print the replays and their times on stderr
  bool exit_code = false;           // return the exit code of the answer
  ColorMode color = ColorMode::kAuto;
  bool source = true;  // in html, show source lines around the frames of findings
};

// Runs `vramtrack report`.
int RunReport(const ReportOptions& options);

struct DiffCommandOptions {
  std::string base, next;       // files or folders
  std::string format = "text";  // or "json", "markdown"
  std::string output;           // empty or "-": standard output
  size_t top = 10;
  std::vector<std::string> renames;  // each "OLD=NEW"
  std::string rename_file;           // a file with one rename per line; empty: none
  std::vector<std::string> fail_on;  // values of FailOnNames()
  std::string step_marks;            // as in AnalyzeOptions
  std::string categories;            // a file of rules; empty: none
  std::vector<std::string> search_paths;
  bool explain_passes = false;  // print the replays and their times on stderr
  bool all_runs = false;        // use all runs of a folder; see ChooseTraces
  size_t threads = 0;           // 0: as many as there are processors
  ColorMode color = ColorMode::kAuto;
};

// Returns the accepted values of `fail_on`.
const std::vector<std::string>& FailOnNames();

// Runs `vramtrack diff`.
int RunDiff(const DiffCommandOptions& options);

struct CheckCommandOptions {
  std::vector<std::string> traces;  // files or folders, all of one job
  std::string baseline, budget_file;
  std::map<std::string, std::string> limits;  // limits by key of kLimitKinds, as given on the command line
  std::vector<std::string> fail_on;           // rule ids, separated by commas
  std::string today;                          // the date; empty: today's date in UTC
  std::string format = "text";                // one of CheckFormats()
  std::string output;                         // empty or "-": standard output
  std::string source_root;
  bool all_runs = false;   // use all runs of a folder; see ChooseTraces
  std::string step_marks;  // as in AnalyzeOptions
  std::string categories;  // a file of rules; empty: none
  size_t threads = 0;      // as in AnalyzeOptions
  std::vector<std::string> search_paths;
};

// Returns the option that sets a limit, such as "--max-peak".
std::string LimitOption(const LimitKind& kind);

std::vector<std::string> CheckFormats();

// Runs `vramtrack check`.
int RunCheck(const CheckCommandOptions& options);

struct ExportCommandOptions {
  std::string trace;
  std::string format;  // --to
  std::string output;
  // For formats that hold tables; "all" means all tables; empty means the sites.
  std::vector<std::string> tables;
  // "peak", "end", "oom" or "step=N"; empty: the end of `steps`, or the default of the format.
  std::string at;
  std::string steps;  // "FIRST:LAST"; empty: all
  std::string level = "all";
  std::string value = "inuse_space";
  std::string frames = "calls";  // or "modules"
  uint64_t max_events = 100'000;
  bool raw_stacks = false;
  bool all_runs = false;  // use all runs of a folder; see ChooseTraces
  std::string step_marks;
  std::string categories;  // a file of rules; empty: none
  size_t threads = 0;
  std::vector<std::string> search_paths;
};

// Runs `vramtrack export`.
int RunExport(const ExportCommandOptions& options);

struct SummarizeOptions {
  std::vector<std::string> traces;  // files or folders
  std::string output;               // "-": standard output
  std::string detail = "full";      // or "job", "fleet"
  size_t top = 0;                   // as in AnalyzeOptions; 0: its default
  std::string step_marks;           // as in AnalyzeOptions
  std::string categories;           // a file of rules; empty: none
  std::vector<std::string> search_paths;
  bool all_runs = false;            // use all runs of a folder; see ChooseTraces
  uint64_t horizon_steps = 100000;  // as in AnalyzeOptions
  size_t threads = 0;               // as in AnalyzeOptions
};

// Runs `vramtrack summarize`.
int RunSummarize(const SummarizeOptions& options);

struct MergeOptions {
  std::vector<std::string> summaries;  // files, or folders of *.vts
  std::string output;                  // "-": standard output
  std::string detail = "full";         // or "job", "fleet"
  bool keep_going = false;             // skip files that cannot be read
};

// Runs `vramtrack merge`.
int RunMerge(const MergeOptions& options);

struct InfoOptions {
  std::vector<std::string> traces;  // files or folders
  std::vector<std::string> search_paths;
  bool all_runs = false;  // use all runs of a folder; see ChooseTraces
  bool paths = false;     // print only the paths of the traces
};

// Runs `vramtrack info`: prints what is in each trace and how complete it is.
int RunInfo(const InfoOptions& options);

// Writes the same information about the summary at `path`. The error is one line.
absl::Status WriteSummaryInfo(const std::string& path, Page* page);

struct DumpOptions {
  std::vector<std::string> traces;  // files or folders
  bool stacks = false;
  bool raw_stacks = false;  // show every frame; only with `stacks`
  std::vector<std::string> search_paths;
  bool all_runs = false;  // use all runs of a folder; see ChooseTraces
};

// Runs `vramtrack dump`: prints the events of each process in time order, one per line.
int RunDump(const DumpOptions& options);

}  // namespace vramtrack

#endif  // ANALYZER_CLI_COMMANDS_H_
