// SPDX-License-Identifier: Apache-2.0
//
// Scores the analyzer on emulated cases: see docs/internals/accuracy.md.
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include "tests/corpus/ablation.h"
#include "tests/corpus/diff_score.h"
#include "tests/corpus/suites.h"
#include "tests/corpus/summary.h"
#include "tests/corpus/tables.h"
#include "tests/corpus/time_to_oom.h"

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

bool Wants(const Options& options, const std::string& suite) {
  return std::find(options.suites.begin(), options.suites.end(), suite) != options.suites.end();
}

std::function<void(size_t)> Progress(const char* suite, size_t runs) {
  const size_t every = std::max<size_t>(1, runs / 20);
  return [=](size_t done) {
    if (done % every == 0) std::fprintf(stderr, "%s: %zu of %zu runs\n", suite, done, runs);
  };
}

nlohmann::ordered_json RunOom(const Options& options) {
  std::printf(
      "\ntime to out-of-memory, foretold at half of it: share of runs, relative error\n%-12s %6s %9s %8s %8s %8s\n",
      "steps", "runs", "foretold", "median", "p90", "cover");
  nlohmann::ordered_json json;
  for (const int steps : options.selection.steps) {
    const std::vector<RunSpec> runs = OomRuns({steps}, options.selection.seeds);
    std::vector<std::optional<OomScore>> scores(runs.size());
    ForEach(
        runs.size(), options.threads, [&](size_t i) { scores[i] = ScoreTimeToOom(runs[i]); },
        Progress("oom", runs.size()));
    Share foretold, covered;
    std::vector<double> errors;
    for (size_t i = 0; i < runs.size(); ++i) {
      const std::optional<OomScore>& score = scores[i];
      if (!score) continue;
      foretold.Add(score->foretold.has_value());
      if (options.explain && (!score->foretold || !score->covered || score->error() > .1)) {
        std::printf("        %s, seed %d: full after %.0f steps, foretold %.1f (%.1f to %.1f)%s%s\n",
                    runs[i].id.c_str(), static_cast<int>(runs[i].options.seed % 100), score->true_steps,
                    score->foretold.value_or(0), score->low, score->high, score->refused.empty() ? "" : ": ",
                    score->refused.c_str());
      }
      if (!score->foretold) continue;
      errors.push_back(score->error());
      covered.Add(score->covered);
    }
    std::sort(errors.begin(), errors.end());
    const double median = Quantile(errors, .5), p90 = Quantile(errors, .9);
    std::printf("%-12d %6d %9.3f %8.4f %8.4f %8.3f\n", steps, foretold.of, foretold.value(), median, p90,
                covered.value());
    json[std::to_string(steps)] = {{"runs", foretold.of},
                                   {"foretold", foretold.value()},
                                   {"error_median", median},
                                   {"error_p90", p90},
                                   {"covered", covered.value()}};
  }
  return json;
}

nlohmann::ordered_json RunDiff(const Options& options, bool summaries) {
  const std::vector<DiffSpec> specs = DiffRuns(options.selection.seeds, summaries);
  std::vector<DiffScore> scores(specs.size());
  ForEach(
      specs.size(), options.threads, [&](size_t i) { scores[i] = ScoreDiff(specs[i]); },
      Progress("diff", specs.size()));
  std::printf("\ncomparisons of two %s\n%-36s %5s %7s %9s %9s %7s %7s %9s\n", summaries ? "summaries" : "runs", "edit",
              "pairs", "matched", "moved", "right", "changes", "false", "per 1000");
  nlohmann::ordered_json json;
  for (size_t first = 0; first < specs.size();) {
    size_t end = first;
    int pairs = 0, sites = 0, moved = 0, moved_right = 0, false_findings = 0;
    Share matched, changes;
    for (; end < specs.size() && specs[end].id == specs[first].id; ++end) {
      const DiffScore& score = scores[end];
      ++pairs;
      sites += score.sites;
      moved += score.moved;
      moved_right += score.moved_right;
      matched.hits += score.edited - score.unmatched;
      matched.of += score.edited;
      changes.hits += score.found;
      changes.of += score.changes;
      false_findings += score.false_findings + !score.comparable;
    }
    const auto share = [](int hits, int of) { return of > 0 ? static_cast<double>(hits) / of : 0; };
    std::printf("%-36s %5d %7.3f %9d %9.3f %7.3f %7d %9.2f\n", specs[first].id.c_str(), pairs, matched.value(), moved,
                share(moved_right, moved), changes.value(), false_findings, 1000 * share(false_findings, sites));
    if (options.explain) {
      for (size_t i = first; i < end; ++i) {
        for (size_t k = 0; k < scores[i].said.size() && k < 2; ++k) {
          std::printf("        job %d: %s\n", static_cast<int>(specs[i].seed), scores[i].said[k].c_str());
        }
      }
    }
    json[specs[first].id] = {{"pairs", pairs},
                             {"sites", sites},
                             {"edited", matched.of},
                             {"matched", matched.value()},
                             {"moved", moved},
                             {"moved_right", share(moved_right, moved)},
                             {"changes_found", changes.value()},
                             {"false_findings", false_findings}};
    first = end;
  }
  return json;
}

nlohmann::ordered_json RunAblations(const Options& options) {
  // Each rule costs all runs once: short ones of two seeds do.
  Selection few = options.selection;
  few.steps.erase(std::remove_if(few.steps.begin(), few.steps.end(), [](int steps) { return steps > 100; }),
                  few.steps.end());
  few.seeds = std::min(few.seeds, 2);
  const std::vector<RunSpec> runs = CaseRuns(few);
  std::string nothing;
  std::printf("\n%zu runs of cases, with one rule off at a time\n%-20s %-10s %6s %6s %12s %6s\n", runs.size(), "rule",
              "off", "lost", "found", "false leaks", "other");
  nlohmann::ordered_json json;
  for (const Ablation& one : Ablate(runs, options.threads)) {
    if (one.lost + one.found + one.false_leaks + one.other == 0) {
      nothing += (nothing.empty() ? "" : ", ") + one.rule;
    } else {
      std::printf("%-20s %-10s %6d %6d %12d %6d\n", one.rule.c_str(), one.off.c_str(), one.lost, one.found,
                  one.false_leaks, one.other);
    }
    json[one.rule] = {{"off", one.off},
                      {"lost", one.lost},
                      {"found", one.found},
                      {"false_leaks", one.false_leaks},
                      {"other", one.other}};
  }
  std::printf("none changes without: %s\n", nothing.c_str());
  return json;
}

int Run(const Options& options) {
  nlohmann::ordered_json json;
  for (const Suite& suite : kSuites) {
    if (!Wants(options, suite.name)) continue;
    std::vector<RunSpec> runs = suite.runs(options.selection);
    if (options.half != "both") {
      runs.erase(std::remove_if(runs.begin(), runs.end(),
                                [&](const RunSpec& run) { return options.half != ToString(run.half); }),
                 runs.end());
    }
    if (runs.empty()) continue;
    const std::vector<RunScore> scores = RunAll(runs, options.threads, Progress(suite.name, runs.size()));
    if (options.half == "both" && suite.name == std::string("cases")) {
      for (const Half half : {Half::kTuning, Half::kHeldOut}) {
        json[suite.name][ToString(half)] =
            PrintHalf(runs, scores, options, std::string(suite.title) + ": " + ToString(half) + " half", half);
      }
    } else {
      json[suite.name][options.half] = PrintHalf(runs, scores, options, suite.title, std::nullopt);
    }
    PrintFailures(runs, scores, options.explain, stdout);
    if (options.explain) PrintRatesOff(runs, scores, stdout);
  }
  if (Wants(options, "ablations")) json["ablations"] = RunAblations(options);
  if (Wants(options, "oom")) json["oom"] = RunOom(options);
  if (Wants(options, "diff")) json["diff"] = RunDiff(options, /*summaries=*/false);
  if (Wants(options, "summary_diff")) json["summary_diff"] = RunDiff(options, /*summaries=*/true);
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
  app.add_option("--suites", options.suites,
                 "cases, injected, clean, pairs, ablations, oom, diff, summary_diff (cases)")
      ->delimiter(',');
  app.add_option("--threads", options.threads, "how many runs at a time (one a core)");
  app.add_option("--json", options.json, "where the figures go as JSON");
  app.add_flag("--explain", options.explain, "says of each case that fails what was said of it");
  app.add_flag("--rivals,!--no-rivals", options.rivals, "the tables of other rules");
  CLI11_PARSE(app, argc, argv);
  return vramtrack::corpus::Run(options);
}
