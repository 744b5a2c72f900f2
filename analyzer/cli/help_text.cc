// SPDX-License-Identifier: Apache-2.0
#include "analyzer/cli/command_line.h"

namespace vramtrack {

const char kOverview[] = R"(Usage: vramtrack COMMAND ...
Tells which line of a CUDA program leaks how much memory per step, and where the memory is.

  vramtrack run [-o DIR] [OPTION...] -- COMMAND [ARG...]   trace a command and all processes that it starts
  vramtrack report TRACE [OPTION...]                       what leaks, where the memory is at the peak
  vramtrack diff BASE NEW [OPTION...]                      what changed between two runs
  vramtrack check TRACE [OPTION...]                        fail on leaks, regressions and budgets, for CI
  vramtrack export TRACE --to FORMAT -o FILE               for pprof, PyTorch's memory_viz, Perfetto, speedscope
  vramtrack summarize TRACE -o FILE                        a small file that report, diff and check take for the trace
  vramtrack merge SUMMARY... -o FILE                       any number of summaries in one: a job, a fleet
  vramtrack info TRACE                                     what is in a trace, and how complete it is
  vramtrack dump TRACE [--stacks]                          the events of a trace, one a line

TRACE is a file that vramtrack wrote, or a folder of them: all processes of a job. For report, diff and check it may be
a summary.
`vramtrack COMMAND --help` tells more, `vramtrack --version` prints the version.
)";

const char kRunHelp[] = R"(Usage: vramtrack run [OPTION...] [--] COMMAND [ARG...]
Runs COMMAND, records the CUDA allocations of it and of all processes that it starts, and prints a short report on
stderr at the end. Output, input and exit code are COMMAND's.

  -o, --output DIR     the folder for the traces, one file a process (default: a new folder vramtrack.TIME)
      --stacks KINDS   native, python, native,python or none
      --max-frames N   the deepest stack to record, 1 to 256 (default 128)
      --max-bytes SIZE the largest trace of one process, such as 500M or 2G (default: no limit)
      --cupti          what CUPTI tells of memory, too; one tool at a time can have it, so not for jobs that profile
      --cupti-records LIST  what it is asked for (default: memory,pools): memory, pools, kernels, copies, fills,
                       synchronization, graphs, calls, markers, unified, external
  -q, --quiet          no report at the end: COMMAND's own output alone
  -h, --help           print this
      --version        print the version

Options end at the first word that is none; what follows is COMMAND's. Exit code: that of COMMAND, or 126 if it cannot be
started, 127 if there is none, 2 if tracing cannot begin. A COMMAND that a signal ends, ends vramtrack by the same signal.
)";

const char kReportHelp[] = R"(Usage: vramtrack report [OPTION...] TRACE
Prints which line leaks how much per step and how sure that is, where the memory is at the peak, what fragmentation costs.

      --format FORMAT    text (default), json or html
  -o, --output FILE      write to FILE, whole or not at all, instead of to standard output
      --top N            the longest list to print in text (default 10)
      --explain-passes   print on standard error how often the trace was read, for what, and how long that took
      --exit-code        exit with 1 if there is a leak, and with 3 if there is too little evidence (default: 0)
      --raw-stacks       show every frame, also those of the interpreter and of PyTorch's dispatcher
      --no-source        in html, leave out the lines of source around those of the findings
      --step-marks KIND  where steps end: marks, nvtx, nvtx:NAME, record_function:NAME, optimizer, periodicity or none
                         (default: the first that there is)
      --horizon STEPS    the run's planned length: what leaks little until then is minor (default 100000)
      --all-runs         of a folder that holds several runs, take all (default: the newest one)
      --search-path DIR  look here for binaries that are no longer where they ran; may be given several times
      --threads N        processors to use (default: all); the report is the same for any number
      --color WHEN       auto (default: on a terminal), always or never
  -h, --help             print this
      --version          print the version

Exit code: 0 fine, 2 bad input or usage; with --exit-code, 1 a leak, 3 not enough evidence for a verdict.
)";

const char kDiffHelp[] = R"(Usage: vramtrack diff [OPTION...] BASE NEW
Prints what changed from one run to another: sites that are new, gone, grown or shrunk, new leaks, the peak, growth,
fragmentation; moved lines and renamed functions are no change. BASE and NEW are traces, or folders of them.

      --format FORMAT    text (default), json, markdown or html
  -o, --output FILE      write to FILE, whole or not at all, instead of to standard output
      --top N            the longest list to print in text and Markdown (default 10)
      --explain-passes   print on standard error how often each trace was read, for what, and how long that took
      --rename OLD=NEW   a function, class, namespace or file has another name in NEW; may be given several times
      --rename-file FILE OLD=NEW, one a line
      --fail-on WHAT     exit with 1 if there is WHAT: new-leak, leak-growth, peak, growth, fragmentation, new, grown,
                         change (any of these, or its opposite) or divergence (not the same allocations in the same
                         order); several may be given, with commas between
      --step-marks KIND  where steps end, as for vramtrack report
      --threads N        use N processors (default: all); what is printed does not depend on it
      --all-runs         of folders that hold several runs, take all (default: the newest of each)
      --search-path DIR  look here for binaries that are no longer where they ran; may be given several times
      --color WHEN       auto (default: on a terminal), always or never
  -h, --help             print this
      --version          print the version

Exit code: 0 fine, 1 what --fail-on asks for, 2 bad input or usage, 3 not enough evidence: too few steps to tell a change
from chance, or runs that have nothing in common.
)";

const char kCheckHelp[] = R"(Usage: vramtrack check [OPTION...] TRACE
Fails if a run leaks, needs more than its budget or has become worse than a baseline. Without any option every leak that
is not minor fails; with --baseline what was there before does not.

      --baseline BASE        an earlier run to compare with: a trace, or a folder of them
      --budget FILE          limits and exceptions (TOML, see docs/check.md); what is given below goes before it
      --max-leak RATE        of one leak, such as 64KiB/step or 0: minor leaks are judged by it as well
      --max-leak-objects N   of one leak that has no bytes (streams, events), per step
      --max-leak-total RATE  of all leaks of a device
      --max-peak SIZE        live bytes of a device at the peak, such as 70GiB
      --max-reserved SIZE    taken from the device at the peak
      --max-device-used SIZE used on the device at the peak
      --max-growth RATE      of live bytes of a device
      --max-fragmentation X  reserved and not live at the peak, such as 2GiB or 10%
      --min-steps-to-oom N   steps until a device is full
      --fail-on RULE         only these rules fail, others warn; several may be given, with commas between (default: all)
      --today DATE           for exceptions that expire, such as 2026-12-31 (default: today, UTC)
      --format FORMAT        text (default), json, github, gitlab, junit or sarif
  -o, --output FILE          write to FILE, whole or not at all, instead of to standard output
      --source-root DIR      files are named from here (default: the git work tree, or else this folder)
      --step-marks KIND      where steps end, as for vramtrack report
      --threads N            use N processors (default: all); what is printed does not depend on it
      --all-runs             of a folder that holds several runs, take all (default: the newest one)
      --search-path DIR      look here for binaries that are no longer where they ran; may be given several times
  -h, --help                 print this
      --version              print the version

Exit code: 0 fine, 1 something failed, 2 bad input or usage, 3 nothing failed, but there is too little evidence.
)";

const char kExportHelp[] = R"(Usage: vramtrack export [OPTION...] TRACE --to FORMAT -o FILE
Writes a trace as a file of another tool. Of stacks: what each has in use at one moment, and what it allocated.

      --to FORMAT        stacks: pprof, speedscope, folded; events: torch-snapshot, firefox; curves: perfetto; sums:
                         openmetrics; tables: parquet, csv
      --table TABLE,...  of parquet and csv: sites (default), events, steps, windows, runs, devices, oom, or all;
                         several are a folder, a file each
  -o, --output FILE      write to FILE, whole or not at all, instead of to standard output. Of tables it may be a folder:
                         then they are FILE/sites.parquet and so on
      --at MOMENT        what is in use: at the peak of each device (default; of firefox the end), at the end, at the
                         first oom, or at the end of step=N
      --steps A:B        only what was allocated, and what happened, in these steps; what is in use at their end
      --level LEVEL      all (default): a framework's blocks, and of the driver's memory what holds none of them; driver
                         or framework: these alone, and whole
      --value VALUE      of folded and speedscope, and what pprof shows first: inuse_space (default), inuse_objects,
                         alloc_space or alloc_objects
      --max-events N     of events, and points of a curve: the last N of each device (default 100000)
      --raw-stacks       every frame, also those of the interpreter and of PyTorch's dispatcher
      --step-marks KIND  where steps end, as for vramtrack report
      --all-runs         of a folder that holds several runs, take all (default: the newest one)
      --search-path DIR  look here for binaries that are no longer where they ran; may be given several times
      --threads N        use N processors (default: all); the file is the same for any number
  -h, --help             print this
      --version          print the version

Exit code: 0 fine, 2 bad input or usage.
)";

const char kSummarizeHelp[] = R"(Usage: vramtrack summarize [OPTION...] TRACE -o FILE
Writes what report, diff and check need to know of TRACE to a small file, which merge joins with others. Stacks are
symbolized, so that the binaries are not needed any more.

  -o, --output FILE      where to, whole or not at all; - is standard output
      --detail DETAIL    full (default), job or fleet: how fine the curves are; merge makes them coarser as processes
                         become many
      --top N            sites that are no leaks, of each process (default 20)
      --step-marks KIND  where steps end: as report
      --horizon STEPS    the run's planned length: as report
      --all-runs         of a folder that holds several runs, take all (default: the newest one)
      --search-path DIR  look here for binaries that are no longer where they ran; may be given several times
      --threads N        processors to use (default: all); the summary is the same for any number
  -h, --help             print this
      --version          print the version

Exit code: 0 fine, 2 bad input or usage.
)";

const char kMergeHelp[] = R"(Usage: vramtrack merge [OPTION...] SUMMARY... -o FILE
Joins summaries. A SUMMARY is a file that summarize or merge wrote, or a folder of *.vts. In any order and in any number
of turns the same processes give the same bytes; a process that is in several is one.

  -o, --output FILE      where to, whole or not at all; - is standard output
      --detail DETAIL    full (default), job or fleet: how fine the curves are at most. From 17 processes on they are as
                         fine as for job, from 1025 on as for fleet
      --keep-going       leave out what cannot be read, and write the others
  -h, --help             print this
      --version          print the version

Exit code: 0 fine, 2 bad input or usage.
)";

const char kInfoHelp[] = R"(Usage: vramtrack info [OPTION...] TRACE
Prints what is in a trace, and how complete it is: process, environment, events by operation, losses, threads, modules.

      --paths            print only the paths of the traces that TRACE means, one a line
      --all-runs         of a folder that holds several runs, take all (default: the newest one)
      --search-path DIR  look here for binaries that are no longer where they ran; may be given several times
  -h, --help             print this
      --version          print the version

Exit code: 0 fine, 2 bad input or usage.
)";

const char kDumpHelp[] = R"(Usage: vramtrack dump [OPTION...] TRACE
Prints the events of a trace in the order in which they happened, one a line.

      --stacks           print the stack below each event that has one
      --raw-stacks       the same, with every frame, also those of the interpreter and of PyTorch's dispatcher
      --all-runs         of a folder that holds several runs, take all (default: the newest one)
      --search-path DIR  look here for binaries that are no longer where they ran; may be given several times
  -h, --help             print this
      --version          print the version

Exit code: 0 fine, 2 bad input or usage.
)";

}  // namespace vramtrack
