// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "analyzer/base/choices.h"
#include "analyzer/base/display_text.h"
#include "analyzer/cli/commands.h"
#include "analyzer/cli/output.h"
#include "analyzer/cli/shared_options.h"
#include "analyzer/ingest/trace_choice.h"
#include "analyzer/model/answer.h"
#include "analyzer/pipeline/analyze.h"
#include "analyzer/render/html/html.h"
#include "analyzer/render/html/source_lines.h"
#include "analyzer/render/json/json.h"
#include "analyzer/render/text/text.h"

namespace vramtrack {
namespace {

// Where the page of a trace goes by default: next to it, "run.html" for run.vtrace and for the folder run.
std::string PageBeside(const std::string& trace) {
  std::filesystem::path path = std::filesystem::absolute(trace).lexically_normal();
  if (!path.has_filename()) path = path.parent_path();
  const bool is_file = path.extension() == ".vtrace" || path.extension() == ".vts";
  const std::string name = (is_file ? path.stem() : path.filename()).string() + ".html";
  const std::filesystem::path given = std::filesystem::path(trace).lexically_normal();
  // A folder that is named by where it is, as "." or "..", has its page inside.
  if (given == "." || given == "./" || given.filename() == "..") return (given / name).lexically_normal().string();
  return ((given.has_filename() ? given : given.parent_path()).parent_path() / name).string();
}

// Adds an option that names sections of the text.
void AddShow(CommandParser* parser, std::set<std::string>* show) {
  std::vector<std::string> names;
  for (const TextSection& section : TextSections()) names.emplace_back(section.name);
  const auto check = [names, show](std::string& text) -> std::string {
    for (const auto piece : absl::StrSplit(text, ',')) {
      const std::string name(piece);
      if (std::find(names.begin(), names.end(), name) == names.end()) {
        const std::string meant = NearMiss(name, names);
        return absl::StrCat(
            "unknown section '", Printable(name), "'",
            meant.empty() ? "; see vramtrack report --help" : absl::StrCat("; did you mean '", meant, "'?"));
      }
      show->insert(name);
    }
    return "";
  };
  parser
      ->Call(
          "--show", "SECTION", [](const std::string&) {},
          "also show these sections of the text, whole; separate several with commas")
      ->check(CLI::Validator(check, ""));
}

// For --help.
std::string SectionList() {
  std::string list = "Sections (* shown by default):";
  for (const TextSection& section : TextSections()) {
    absl::StrAppend(&list, "\n", section.name, section.by_default ? "*" : "", ": ", section.about);
  }
  return list;
}

int ExitCodeOf(Answer answer) {
  switch (answer) {
    case Answer::kLeak:
      return kExitFinding;
    case Answer::kNotEnough:
      return kExitNotEnoughEvidence;
    case Answer::kNoLeak:
      break;
  }
  return kExitFine;
}

}  // namespace

int ReportCommand(const Arguments& arguments) {
  std::vector<std::string> traces;
  std::string format = "text", output;
  size_t top = 0;
  bool exit_code = false, raw_stacks = false, no_source = false;
  TextOptions text_options;
  ColorMode color = ColorMode::kAuto;
  AnalysisOptions options;
  CommandParser parser(
      "report [OPTION...] TRACE...",
      "Show which line leaks, how fast and how certain that is, what holds the memory at the peak, and "
      "what fragmentation costs. Several traces are reported as one job.");
  parser.Positional("TRACE", &traces);
  AddFormat(&parser, &format, {"text", "json", "html"});
  AddOutput(&parser, &output, "; HTML on a terminal goes to TRACE.html");
  AddTop(&parser, &top, "the most rows of a table in text (default: 5, with --verbose 10)");
  parser.Flag("-v,--verbose", &text_options.verbose, "show all sections of the text, whole");
  AddShow(&parser, &text_options.show);
  AddExplainPasses(&parser, &options, "the");
  parser.Flag("--exit-code", &exit_code, "exit with 1 for a leak, and with 3 for too little evidence");
  parser.Flag("--raw-stacks", &raw_stacks, kTextOfRawStacks);
  parser.Flag("--no-source", &no_source, "leave source code out of the HTML page");
  AddStepMarksAndCategories(&parser, &options);
  AddHorizon(&parser, &options, "the planned length of the run: a leak that stays small until then is minor");
  AddInput(&parser, &options);
  AddThreads(&parser, &options);
  AddColor(&parser, &color);
  parser.Ending(absl::StrCat(SectionList(),
                             "\nExit code: 0 success, 2 bad input or usage; with --exit-code, 1 a leak, 3 not enough "
                             "evidence for a verdict."));
  if (const auto code = parser.Parse(arguments)) return *code;

  // A page is of no use on a terminal.
  const bool html = format == "html", names_itself = html && output.empty() && isatty(STDOUT_FILENO) != 0;
  if (names_itself) output = PageBeside(traces[0]);
  std::vector<std::string> inputs = traces;
  inputs.push_back(options.categories);
  CheckOutput(output, inputs);
  const TraceChoice choice = ChooseAndSay(traces, options.all_runs);
  options.ReadCategories();
  // A page has room for all sites that anybody would look for.
  options.analyze.top = std::max(html ? kMaxPageSites : options.analyze.top, top);
  text_options.top = top != 0 ? top : text_options.verbose ? 10 : text_options.top;
  text_options.every_frame = raw_stacks;
  if (raw_stacks) options.analyze.stacks = StackDetail::kRaw;
  Report report = OrFail([&] {
    const ShownAnalysis shown("analyzing " + traces[0], &options);
    return Analyze(choice.paths, options.analyze);
  }());
  if (!choice.left_out.empty()) {
    report.left_out = choice.left_out;
    report.warnings.insert(report.warnings.begin(), choice.left_out);
  }
  const std::string text =
      format == "json" ? RenderJson(report)
      : html           ? (no_source ? RenderHtml(report) : RenderHtml(report, ReadSource(report, choice.paths)))
                       : RenderText(report, DetectStyle(IsFile(output) ? -1 : STDOUT_FILENO, color), text_options);
  if (const int code = WriteOutput(output, text); code != kExitFine) return code;
  if (names_itself) Say("wrote " + output);
  return exit_code ? ExitCodeOf(AnswerOf(report)) : kExitFine;
}

}  // namespace vramtrack
