// SPDX-License-Identifier: Apache-2.0
#include "analyzer/cli/shared_options.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "analyzer/base/choices.h"
#include "analyzer/base/input_file.h"
#include "analyzer/check/limits.h"
#include "analyzer/cli/output.h"
#include "analyzer/findings/core/step_marks.h"

namespace vramtrack {
namespace {

constexpr uint64_t kMostThreads = 1024, kMostRows = 1000000, kMostSteps = uint64_t{1} << 48;
constexpr uint64_t kMostCategoryBytes = 1 << 20;
constexpr uint64_t kLongestInterval = 10'000;  // of walks, in any unit
constexpr int kMostFrames = 256;

// Return what is wrong with the value of an option, empty if nothing is; those named Read also change it to what the
// recorder understands.

std::string CheckStepMarks(const std::string& source) {
  if (!source.empty() && ParseStepMarks(source)) return "";
  return absl::StrCat("unknown source of steps '", source,
                      "' (expected marks, nvtx, nvtx:NAME, record_function:NAME, optimizer, periodicity or none)");
}

// "2GiB" becomes bytes.
std::string ReadSize(std::string& text) {
  const absl::StatusOr<Limit> size = ParseLimit(text, LimitUnit::kBytes);
  if (!size.ok()) return std::string(size.status().message());
  if (size->value < 1) return absl::StrCat("invalid size '", text, "' (examples: 500 MiB, 2 GiB)");
  text = absl::StrCat(static_cast<uint64_t>(std::llround(size->value)));
  return "";
}

// The milliseconds of an interval such as "30s" or "5m"; 0 if it is not one.
uint64_t MillisecondsOf(const std::string& text) {
  const size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  const std::string unit = text.substr(digits);
  const uint64_t of_unit = unit == "ms" ? 1 : unit == "s" ? 1000 : unit == "m" ? 60'000 : unit == "h" ? 3'600'000 : 0;
  uint64_t number = 0;
  if (!absl::SimpleAtoi(text.substr(0, digits), &number) || number > kLongestInterval) return 0;
  return number * of_unit;
}

// "growth,5m" becomes "growth,300s".
std::string ReadHolderMoments(std::string& text) {
  if (text == "0") return "";
  const std::vector<std::string> known = {"growth", "oom", "exit", "request"};
  std::vector<std::string> moments;
  const auto add = [&moments](const std::string& moment) {
    if (std::find(moments.begin(), moments.end(), moment) == moments.end()) moments.push_back(moment);
  };
  uint64_t interval = 0;
  for (const auto piece : absl::StrSplit(text, ',')) {
    const std::string one(piece);
    if (one == "all" || one == "1") {
      for (const std::string& moment : known) add(moment);
    } else if (std::find(known.begin(), known.end(), one) != known.end()) {
      add(one);
    } else if (const uint64_t milliseconds = MillisecondsOf(one); milliseconds != 0) {
      if (interval != 0) return absl::StrCat("a second interval '", one, "' (expected one)");
      interval = milliseconds;
    } else {
      return absl::StrCat("unknown moment '", one, "' (expected ", absl::StrJoin(known, ", "),
                          ", an interval such as 30s, or all)");
    }
  }
  if (interval != 0) {
    moments.push_back(interval % 1000 != 0 ? absl::StrCat(interval, "ms") : absl::StrCat(interval / 1000, "s"));
  }
  text = absl::StrJoin(moments, ",");
  return "";
}

}  // namespace

void AnalysisOptions::ReadCategories() {
  if (categories.empty()) return;
  analyze.categories = OrFail(ParseCategoryRules(OrFail(ReadInputFile(categories, kMostCategoryBytes)), categories));
}

void AddStepMarksAndCategories(CommandParser* parser, AnalysisOptions* options) {
  parser
      ->Option("--step-marks", "KIND", &options->analyze.step_marks,
               "where steps end: marks, nvtx, nvtx:NAME, record_function:NAME, optimizer, periodicity or none "
               "(default: the source that covers most of the run)")
      ->check(CheckStepMarks);
  parser->Option("--categories", "FILE", &options->categories,
                 "rules that name what memory is for (TOML, see docs/ledger.md)");
}

void AddHorizon(CommandParser* parser, AnalysisOptions* options, const std::string& text) {
  parser->Option("--horizon", "STEPS", &options->analyze.horizon_steps, text + " (default: 100000)")
      ->check(WholeNumber(1, kMostSteps));
  parser->Rare();
}

void AddThreads(CommandParser* parser, AnalysisOptions* options) {
  parser
      ->Option("--threads", "N", &options->analyze.threads,
               "processors to use (default: all); the result does not depend on it")
      ->check(WholeNumber(1, kMostThreads));
  parser->Rare();
}

void AddSearchPath(CommandParser* parser, AnalysisOptions* options) {
  parser->List("--search-path", "DIR", &options->analyze.symbols.search.search_paths,
               "also look here for the traced program's binaries; may be repeated");
  parser->Rare();
}

void AddInput(CommandParser* parser, AnalysisOptions* options) {
  parser->Flag("--all-runs", &options->all_runs, "read all runs in a folder that holds several (default: the newest)");
  AddSearchPath(parser, options);
}

void AddExplainPasses(CommandParser* parser, AnalysisOptions* options, const char* which_trace) {
  parser->Flag(
      "--explain-passes", &options->explain_passes,
      absl::StrCat("print on standard error how often ", which_trace, " trace is read, why, and how long that takes"));
  parser->Rare();
}

void AddOutput(CommandParser* parser, std::string* output, const std::string& more) {
  parser->Option("-o,--output", "FILE", output,
                 "write to FILE, complete or not at all, instead of standard output" + more);
}

void AddFormat(CommandParser* parser, std::string* format, const std::vector<std::string>& formats) {
  parser->Option("--format", "FORMAT", format, absl::StrCat(JoinChoices(formats), " (default: text)"))
      ->check(OneOf("format", formats));
}

void AddTop(CommandParser* parser, size_t* top, const std::string& text) {
  parser->Option("--top", "N", top, text)->check(WholeNumber(1, kMostRows));
}

void AddColor(CommandParser* parser, ColorMode* color) {
  parser
      ->Call(
          "--color", "WHEN",
          [color](const std::string& when) {
            *color = when == "always" ? ColorMode::kAlways : when == "never" ? ColorMode::kNever : ColorMode::kAuto;
          },
          "auto (default: on a terminal), always or never")
      ->check(OneOf("value", {"auto", "always", "never"}));
}

ShownAnalysis::ShownAnalysis(std::string what, AnalysisOptions* options)
    : analyze_(options->analyze), progress_(std::move(what), &far_) {
  analyze_.progress = &far_;
  analyze_.passes = options->explain_passes ? &passes_ : nullptr;
}

ShownAnalysis::~ShownAnalysis() {
  analyze_.progress = nullptr;
  analyze_.passes = nullptr;
  const std::string made = passes_.Text();
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, made.data(), made.size());
}

CLI::Option* AddInterval(CommandParser* parser, LiveOptions* options, const std::string& or_else) {
  return parser
      ->Option("--interval", "SECONDS", &options->interval_s,
               absl::StrCat("minimum refresh interval (default: ", options->interval_s, or_else,
                            "). Longer traces are read less often, so that reading takes at most a tenth of one "
                            "processor"))
      ->check(Number(0.1, 3600.0));
}

void AddAnalysis(CommandParser* parser, LiveOptions* options) {
  AddStepMarksAndCategories(parser, &options->analysis);
  AddSearchPath(parser, &options->analysis);
}

bool IsHolderMoments(std::string text) { return ReadHolderMoments(text).empty(); }

void AddRecorder(CommandParser* parser, RecorderOptions* options) {
  parser->Option("-o,--output", "DIR", &options->output,
                 "the folder for the traces, one file per process (default: a new folder vramtrack.TIME)");
  parser->Option("--stacks", "KINDS", &options->stacks, "native, python, native,python or none")
      ->check(OneOf("kind of stack", {"native", "python", "native,python", "python,native", "none"}));
  parser
      ->Option("--max-frames", "N", &options->max_frames, "record at most N frames of a stack, 1 to 256 (default: 128)")
      ->check(WholeNumber(1, kMostFrames));
  parser
      ->Option("--max-bytes", "SIZE", &options->max_bytes,
               "the largest trace of one process, such as 500MiB or 2GiB (default: no limit)")
      ->transform(CLI::Validator(ReadSize, ""));
  parser
      ->OptionalValue("--holders", "WHEN", "all", &options->holders,
                      "find which Python objects hold the memory, at these moments: growth, oom, exit, request "
                      "(`vramtrack holders`), an interval such as 30s, several with commas between them, or all: the "
                      "first four (default without a value: all)")
      ->transform(CLI::Validator(ReadHolderMoments, ""));
}

std::vector<std::pair<std::string, std::string>> RecorderOptions::Variables() const {
  std::vector<std::pair<std::string, std::string>> given;
  for (const auto& [name, value] : {std::pair("VRAMTRACK_STACKS", &stacks),
                                    {"VRAMTRACK_MAX_FRAMES", &max_frames},
                                    {"VRAMTRACK_MAX_BYTES", &max_bytes},
                                    {"VRAMTRACK_HOLDERS", &holders}}) {
    if (!value->empty()) given.emplace_back(name, *value);
  }
  return given;
}

std::string RecorderOptions::Check() const {
  const bool walks = !holders.empty() && holders != "0";
  const bool python = stacks.empty() || absl::StrContains(stacks, "python");
  return walks && !python ? "--holders needs Python stacks (expected --stacks python or native,python)" : "";
}

}  // namespace vramtrack
