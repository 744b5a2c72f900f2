// SPDX-License-Identifier: Apache-2.0

#include "analyzer/cli/command_line.h"

#include <sys/stat.h>

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "analyzer/base/choices.h"
#include "analyzer/base/display_text.h"
#include "analyzer/cli/command_parser.h"
#include "analyzer/cli/commands.h"
#include "analyzer/cli/output.h"
#include "analyzer/cli/preload.h"
#include "analyzer/ingest/trace_choice.h"

namespace vramtrack {
namespace {

struct Command {
  const char* name;
  int (*run)(const Arguments&);
  const char* usage;
  const char* text;
};

// What most people need comes first.
constexpr size_t kMain = 8;
constexpr Command kCommands[] = {
    {"run", RunCommand, "run [-o DIR] -- COMMAND", "trace a command and the processes that it starts"},
    {"report", ReportCommand, "report TRACE", "show what leaks and what holds the memory"},
    {"top", TopCommand, "top [TRACE|PID]", "watch a job that runs"},
    {"view", ViewCommand, "view TRACE", "show the HTML page in a browser, also of a job that runs"},
    {"attach", AttachCommand, "attach PID", "join a process that runs"},
    {"diff", DiffCommand, "diff BASE NEW", "show what changed between two runs"},
    {"check", CheckCommand, "check TRACE", "fail on leaks, regressions and exceeded budgets, for CI"},
    {"export", ExportCommand, "export TRACE --to FORMAT -o FILE",
     "convert to pprof, memory_viz, Perfetto, Parquet and others"},
    {"watch", WatchCommand, "watch TRACE --on-leak COMMAND", "run a command when a running job begins to leak"},
    {"holders", HoldersCommand, "holders PID|TRACE", "ask a running process what holds its memory"},
    {"start", StartCommand, "start PID|DIR", "switch recording on"},
    {"stop", StopCommand, "stop PID|DIR", "switch recording off"},
    {"info", InfoCommand, "info TRACE", "show what a trace contains and how complete it is"},
    {"dump", DumpCommand, "dump TRACE [--stacks]", "print the events of a trace, one per line"},
    {"summarize", SummarizeCommand, "summarize TRACE -o FILE", "write a small file that stands for the trace"},
    {"merge", MergeCommand, "merge SUMMARY... -o FILE", "join the summaries of a job or a fleet"},
};

std::vector<std::string> CommandNames() {
  std::vector<std::string> names;
  for (const Command& command : kCommands) names.emplace_back(command.name);
  return names;
}

std::string Overview(bool all) {
  constexpr int kUsageColumns = 33;
  std::string text =
      "Usage: vramtrack COMMAND [ARGUMENT...]\n"
      "Find the lines of a CUDA program that leak GPU memory, and where the rest goes.\n\n";
  for (size_t i = 0; i < (all ? std::size(kCommands) : kMain); ++i) {
    absl::StrAppend(&text, "  vramtrack ", PadRight(kCommands[i].usage, kUsageColumns), " ", kCommands[i].text, "\n");
  }
  return absl::StrCat(text,
                      "\nTRACE is a file that vramtrack wrote, or a folder of them: all processes of a job. report, "
                      "diff, check, export\nand info also take summaries.\n"
                      "`vramtrack help COMMAND` shows the options of a command, ",
                      all ? "`vramtrack help --all COMMAND` the rare ones too" : "`vramtrack help --all` all commands",
                      ", `vramtrack version` the version.\n");
}

const Command* FindCommand(const std::string& name) {
  for (const Command& command : kCommands) {
    if (name == command.name) return &command;
  }
  return nullptr;
}

// What the user meant by a first word that is not a command. Empty: unknown.
std::string Meant(const Arguments& arguments, bool for_help) {
  const std::string& word = arguments[0];
  std::vector<std::string> names = CommandNames();
  names.insert(names.end(), {"help", "version"});
  if (word.empty() || word[0] == '-') {
    return NearMiss(word, {"--help", "--version"});
  }
  if (for_help) return NearMiss(word, names);
  struct stat info;
  const bool is_path = stat(word.c_str(), &info) == 0;
  const std::string rest = absl::StrJoin(arguments, " ");
  if (is_path && (IsTraceName(word) || absl::EndsWith(word, ".vts"))) return "vramtrack report " + rest;
  if (is_path && absl::EndsWith(word, ".py")) return "vramtrack run -- python " + rest;
  if (const std::string near = NearMiss(word, names); !near.empty()) return near;
  return FindProgram(word).empty() ? "" : "vramtrack run -- " + rest;
}

int UnknownCommand(const Arguments& arguments, bool for_help = false) {
  const std::string& word = arguments[0];
  const std::string what =
      !word.empty() && word[0] == '-' ? "unknown option " + word : absl::StrCat("unknown command '", word, "'");
  const std::string meant = Meant(arguments, for_help);
  if (meant.empty()) return BadInput(what + "; see vramtrack --help");
  const bool is_word = meant.find(' ') == std::string::npos && meant[0] != '-';
  return BadInput(is_word ? absl::StrCat(what, "; did you mean '", meant, "'?")
                          : absl::StrCat(what, "; did you mean", meant[0] == '-' ? " " : ": ", meant, "?"));
}

int PrintHelp(Arguments topic) {
  const auto option = std::find(topic.begin(), topic.end(), "--all");
  const bool all = option != topic.end();
  if (all) topic.erase(option);
  if (topic.empty()) return Print(Overview(all));
  if (const Command* command = FindCommand(topic[0])) return command->run({all ? "--help-all" : "--help"});
  return topic[0] == "help" || topic[0] == "version" ? Print(Overview(all)) : UnknownCommand(topic, true);
}

}  // namespace

int RunCommandLine(const std::vector<std::string>& arguments) {
  if (arguments.empty()) {
    fputs(Overview(false).c_str(), stderr);
    return kExitBadInput;
  }
  const std::string& word = arguments[0];
  const Arguments rest(arguments.begin() + 1, arguments.end());
  if (word == "--help" || word == "-h") return Print(Overview(false));
  if (word == "help") return PrintHelp(rest);
  if (word == "--version" || word == "version") return PrintVersion();
  const Command* const command = FindCommand(word);
  if (command == nullptr) return UnknownCommand(arguments);
  try {
    return command->run(rest);
  } catch (const CommandFailure& failure) {
    return BadInput(failure.line);
  }
}

}  // namespace vramtrack
