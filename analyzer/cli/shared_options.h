// SPDX-License-Identifier: Apache-2.0
//
// The options that several commands have, each declared once. An Add function adds one to the parser of a command, in
// whose --help they are in the order of the calls; where it does not say otherwise, its object must outlive the parser.
#ifndef ANALYZER_CLI_SHARED_OPTIONS_H_
#define ANALYZER_CLI_SHARED_OPTIONS_H_

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/base/analysis_progress.h"
#include "analyzer/cli/command_parser.h"
#include "analyzer/cli/progress.h"
#include "analyzer/findings/core/analyze_options.h"
#include "analyzer/findings/core/pass_plan.h"
#include "analyzer/render/text/page.h"

namespace vramtrack {

inline constexpr char kTextOfRawStacks[] =
    "show every frame, also those of the interpreter and of PyTorch's dispatcher";

// Which traces a command reads, and how it analyses them.
struct AnalysisOptions {
  AnalyzeOptions analyze;  // its category rules are those of the file once ReadCategories has been called
  std::string categories;  // a file; empty: none
  bool all_runs = false;   // use all runs of a folder; see ChooseTraces
  bool explain_passes = false;

  // Throws CommandFailure.
  void ReadCategories();
};

void AddStepMarksAndCategories(CommandParser* parser, AnalysisOptions* options);
void AddHorizon(CommandParser* parser, AnalysisOptions* options, const std::string& text);
void AddThreads(CommandParser* parser, AnalysisOptions* options);
void AddSearchPath(CommandParser* parser, AnalysisOptions* options);
// Adds --all-runs and --search-path.
void AddInput(CommandParser* parser, AnalysisOptions* options);
void AddExplainPasses(CommandParser* parser, AnalysisOptions* options, const char* which_trace);

// `more`: what the text says at its end.
void AddOutput(CommandParser* parser, std::string* output, const std::string& more = "");
void AddFormat(CommandParser* parser, std::string* format, const std::vector<std::string>& formats);
void AddTop(CommandParser* parser, size_t* top, const std::string& text);
void AddColor(CommandParser* parser, ColorMode* color);

// Of an analysis that runs: shows its progress, and prints its passes at the end if --explain-passes was given.
class ShownAnalysis {
 public:
  // Changes `options`, which must outlive it.
  ShownAnalysis(std::string what, AnalysisOptions* options);
  ~ShownAnalysis();
  ShownAnalysis(const ShownAnalysis&) = delete;
  ShownAnalysis& operator=(const ShownAnalysis&) = delete;

 private:
  AnalyzeOptions& analyze_;
  AnalysisProgress far_;
  PassLog passes_;
  Progress progress_;
};

// What top, view and watch follow, and how.
struct LiveOptions {
  std::string target;     // a process number, a trace or a folder of traces
  double interval_s = 1;  // minimum refresh interval, in seconds
  AnalysisOptions analysis;
};

// `or_else`: another default, in a certain case.
CLI::Option* AddInterval(CommandParser* parser, LiveOptions* options, const std::string& or_else = "");
// Adds --step-marks, --categories and --search-path.
void AddAnalysis(CommandParser* parser, LiveOptions* options);

// What `run` and `attach` tell the recorder of a process: variables of its environment, named like VRAMTRACK_STACKS,
// and their values.
struct RecorderOptions {
  std::string output;  // the folder for traces; empty: a new folder named after the time
  std::string stacks, max_frames, max_bytes, holders;

  // Returns those that were given. The others are as the environment has them.
  std::vector<std::pair<std::string, std::string>> Variables() const;
  // Returns what is wrong with them together; empty if nothing is.
  std::string Check() const;
};

// Whether `text` is a value of --holders, such as "growth,5m".
bool IsHolderMoments(std::string text);
void AddRecorder(CommandParser* parser, RecorderOptions* options);

}  // namespace vramtrack

#endif  // ANALYZER_CLI_SHARED_OPTIONS_H_
