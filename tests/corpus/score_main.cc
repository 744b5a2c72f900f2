// SPDX-License-Identifier: Apache-2.0
//
// Scores the analyzer on emulated cases: see docs/accuracy.md.
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include "tests/corpus/suites.h"
#include "tests/corpus/summary.h"
#include "tests/corpus/tables.h"

namespace vramtrack::corpus {
namespace {

struct Options {
  Selection selection;
  std::string half = "both", json;
  std::vector<std::string> suites;
  int threads = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  bool explain = false, rivals = true;
};

struct Suite {
  const char* name;
  const char* title;
  std::vector<RunSpec> (*runs)(const Selection&);
};

constexpr Suite kSuites[] = {
    {"cases", "cases: leaky and fixed variants, lookalikes", CaseRuns},
    {"injected", "injected: 1 object in n of 50 sites of one job", InjectedRuns},
    {"clean", "clean jobs", CleanRuns},
    {"pairs", "two leaks at once, and a leak beside each lookalike", PairRuns},
};

using Rows = std::vector<std::pair<std::string, Summary>>;

nlohmann::ordered_json PrintHalf(const std::vector<RunSpec>& runs, const std::vector<RunScore>& scores,
                                 const Options& options, const std::string& title, std::optional<Half> half) {
  const auto wanted = [&](const RunSpec& run) { return !half || run.half == *half; };
  // The runs of other suites are told apart by their kind as well.
  std::vector<std::string> kinds;
  if (runs[0].suite == "injected") {
    for (const RunSpec& run : runs) {
      if (std::find(kinds.begin(), kinds.end(), run.id) == kinds.end()) kinds.push_back(run.id);
    }
  } else {
    kinds.emplace_back();
  }
  Rows rows;
  for (const std::string& kind : kinds) {
    for (const int steps : options.selection.steps) {
      const auto of_row = [&](const RunSpec& run) {
        return wanted(run) && run.options.steps == steps && (kind.empty() || run.id == kind);
      };
      rows.emplace_back((kind.empty() ? "" : kind + ", ") + std::to_string(steps), Summarize(runs, scores, of_row));
    }
  }
  PrintOurs(title, rows, stdout);
  nlohmann::ordered_json json;
  for (const auto& [name, summary] : rows) {
    json[name] = ToJson(summary);
    if (options.rivals) PrintRivals(title + ", " + name + " steps", summary, stdout);
  }
  PrintConfusion(Summarize(runs, scores, wanted), stdout);
  return json;
}

int Run(const Options& options) {
  nlohmann::ordered_json json;
  for (const Suite& suite : kSuites) {
    if (std::find(options.suites.begin(), options.suites.end(), suite.name) == options.suites.end()) continue;
    std::vector<RunSpec> runs = suite.runs(options.selection);
    if (options.half != "both") {
      runs.erase(std::remove_if(runs.begin(), runs.end(),
                                [&](const RunSpec& run) { return options.half != ToString(run.half); }),
                 runs.end());
    }
    if (runs.empty()) continue;
    const size_t every = std::max<size_t>(1, runs.size() / 20);
    const std::vector<RunScore> scores = RunAll(runs, options.threads, [&](size_t done) {
      if (done % every == 0) std::fprintf(stderr, "%s: %zu of %zu runs\n", suite.name, done, runs.size());
    });
    if (options.half == "both" && suite.name == std::string("cases")) {
      for (const Half half : {Half::kTuning, Half::kHeldOut}) {
        json[suite.name][ToString(half)] =
            PrintHalf(runs, scores, options, std::string(suite.title) + ": " + ToString(half) + " half", half);
      }
    } else {
      json[suite.name][options.half] = PrintHalf(runs, scores, options, suite.title, std::nullopt);
    }
    PrintFailures(runs, scores, options.explain, stdout);
  }
  if (!options.json.empty()) {
    std::ofstream out(options.json);
    out << json.dump(1) << '\n';
    if (!out) {
      std::fprintf(stderr, "score: %s cannot be written\n", options.json.c_str());
      return 2;
    }
  }
  return 0;
}

}  // namespace
}  // namespace vramtrack::corpus

int main(int argc, char** argv) {
  vramtrack::corpus::Options options;
  CLI::App app("Scores the analyzer on emulated cases", "score");
  app.add_option("--cases", options.selection.cases, "ids, such as C4,L7,FN03; all of them without")->delimiter(',');
  app.add_option("--steps", options.selection.steps, "50,100,200,500,1000 without")->delimiter(',');
  app.add_option("--seeds", options.selection.seeds, "runs of each (5)");
  app.add_option("--half", options.half, "tuning, held-out or both")
      ->check(CLI::IsMember({"tuning", "held-out", "both"}));
  options.suites = {"cases"};
  app.add_option("--suites", options.suites, "cases, injected, clean, pairs (cases)")->delimiter(',');
  app.add_option("--threads", options.threads, "how many runs at a time (one a core)");
  app.add_option("--json", options.json, "where the figures go as JSON");
  app.add_flag("--explain", options.explain, "says of each case that fails what was said of it");
  app.add_flag("--rivals,!--no-rivals", options.rivals, "the tables of other rules");
  CLI11_PARSE(app, argc, argv);
  return vramtrack::corpus::Run(options);
}
