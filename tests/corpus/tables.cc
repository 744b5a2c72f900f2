// SPDX-License-Identifier: Apache-2.0
#include "tests/corpus/tables.h"

#include <map>
#include <tuple>

#include "tests/corpus/rivals.h"

namespace vramtrack::corpus {
namespace {

std::string Figure(const Share& share) {
  char text[20] = "-";
  if (share.of > 0) std::snprintf(text, sizeof text, "%.3f", share.value());
  return text;
}

std::string Number(double value, const char* format, bool known = true) {
  char text[30] = "-";
  if (known) std::snprintf(text, sizeof text, format, value);
  return text;
}

double MeanReciprocalRank(const RuleSummary& rule) {
  return rule.recall.of > 0 ? rule.reciprocal_ranks / rule.recall.of : 0;
}

nlohmann::ordered_json ToJson(const Share& share) {
  return {{"share", share.value()}, {"hits", share.hits}, {"of", share.of}};
}

nlohmann::ordered_json ToJson(const RuleSummary& rule) {
  return {{"recall", ToJson(rule.recall)},
          {"false_runs", ToJson(rule.false_runs)},
          {"false_lookalikes", ToJson(rule.false_lookalikes)},
          {"false_beside_a_leak", ToJson(rule.false_beside)},
          {"false_sites", ToJson(rule.false_sites)},
          {"top_1", ToJson(rule.top1)},
          {"top_3", ToJson(rule.top3)},
          {"one_finding", ToJson(rule.one_finding)},
          {"mean_reciprocal_rank", MeanReciprocalRank(rule)}};
}

}  // namespace

const char* ToString(Variant variant) {
  switch (variant) {
    case Variant::kLeaky:
      return "leaky";
    case Variant::kFixed:
      return "fixed";
    case Variant::kLookalike:
      return "lookalike";
    case Variant::kClean:
      break;
  }
  return "clean";
}

const char* ToString(Half half) { return half == Half::kTuning ? "tuning" : "held-out"; }

void PrintOurs(const std::string& title, const std::vector<std::pair<std::string, Summary>>& rows, FILE* out) {
  std::fprintf(out, "\n%s\n%-12s %6s %6s %6s %6s %6s %6s %6s %6s %6s %8s %6s %6s %6s %6s %6s\n", title.c_str(), "steps",
               "runs", "recall", "false", "beside", "top-1", "top-3", "MRR", "one", "rate", "median", "cover", "random",
               "onset", "class", "F1");
  for (const auto& [name, summary] : rows) {
    const RuleSummary& ours = summary.ours;
    std::fprintf(out, "%-12s %6d %6s %6s %6s %6s %6s %6s %6s %6s %8s %6s %6s %6s %6s %6s\n", name.c_str(), summary.runs,
                 Figure(ours.recall).c_str(), Figure(ours.false_runs).c_str(), Figure(ours.false_beside).c_str(),
                 Figure(ours.top1).c_str(), Figure(ours.top3).c_str(),
                 Number(MeanReciprocalRank(ours), "%.3f", ours.recall.of > 0).c_str(), Figure(ours.one_finding).c_str(),
                 Figure(summary.rate_close).c_str(),
                 Number(Quantile(summary.rate_errors, .5), "%.5f", !summary.rate_errors.empty()).c_str(),
                 Figure(summary.covered).c_str(), Figure(summary.covered_random).c_str(),
                 Figure(summary.onset_close).c_str(), Figure(summary.classes).c_str(),
                 Number(summary.step_f1 / summary.runs, "%.3f", summary.runs > 0).c_str());
  }
}

void PrintRivals(const std::string& title, const Summary& summary, FILE* out) {
  std::fprintf(out, "\n%s\n%-26s %7s %7s %10s %7s %7s %7s\n", title.c_str(), "rule", "recall", "false", "lookalike",
               "sites", "top-1", "MRR");
  const auto line = [&](const char* name, const RuleSummary& rule) {
    std::fprintf(out, "%-26s %7s %7s %10s %7s %7s %7.3f\n", name, Figure(rule.recall).c_str(),
                 Figure(rule.false_runs).c_str(), Figure(rule.false_lookalikes).c_str(),
                 Figure(rule.false_sites).c_str(), Figure(rule.top1).c_str(), MeanReciprocalRank(rule));
  };
  line("vramtrack", summary.ours);
  for (size_t i = 0; i < summary.rivals.size(); ++i) line(Rivals()[i].name, summary.rivals[i]);
}

void PrintConfusion(const Summary& summary, FILE* out) {
  std::fprintf(out, "\nclasses of watched sites: right, and what was said\n");
  for (const auto& [classes, count] : summary.confusion) {
    std::fprintf(out, "%-24s %-24s %6d\n", classes.first.c_str(),
                 classes.first == classes.second ? "right" : classes.second.c_str(), count);
  }
}

void PrintFailures(const std::vector<RunSpec>& runs, const std::vector<RunScore>& scores, bool explain, FILE* out) {
  using Key = std::tuple<int, std::string, std::string>;
  struct Failures {
    Share passed;
    Half half = Half::kTuning;
    std::string said;
  };
  std::map<Key, Failures> failures;
  for (size_t i = 0; i < runs.size(); ++i) {
    Failures& at = failures[{runs[i].options.steps, runs[i].id, ToString(runs[i].variant)}];
    const bool passes = Passes(runs[i], scores[i]);
    at.passed.Add(passes);
    at.half = runs[i].half;
    if (passes || !at.said.empty()) continue;
    at.said = "seed " + std::to_string(runs[i].options.seed % 100) + ", steps by " + scores[i].step_source;
    for (const auto& [right, said] : scores[i].classes) {
      if (right != said) at.said += "; a site that is " + right + " is called " + said;
    }
    for (size_t k = 0; k < scores[i].said.size() && k < 3; ++k) at.said += "\n        " + scores[i].said[k];
  }
  std::fprintf(out, "\nruns that fail: steps, case, variant, half, how many of them pass\n");
  for (const auto& [key, at] : failures) {
    if (at.passed.hits == at.passed.of) continue;
    std::fprintf(out, "%5d  %-12s %-10s %-9s %2d of %2d%s%s\n", std::get<0>(key), std::get<1>(key).c_str(),
                 std::get<2>(key).c_str(), ToString(at.half), at.passed.hits, at.passed.of, explain ? ": " : "",
                 explain ? at.said.c_str() : "");
  }
}

void PrintRatesOff(const std::vector<RunSpec>& runs, const std::vector<RunScore>& scores, FILE* out) {
  std::fprintf(out, "\nrates that are off, or outside their interval: steps, case, half, seed\n");
  for (size_t i = 0; i < runs.size(); ++i) {
    const RunScore& score = scores[i];
    const bool off = score.rate_error && score.exact_rate && *score.rate_error > kCloseRate;
    if (!off && score.covered.value_or(true)) continue;
    std::fprintf(out, "%5d  %-12s %-9s %2d: by %.4f, %s, steps by %s, F1 %.3f\n", runs[i].options.steps,
                 runs[i].id.c_str(), ToString(runs[i].half), static_cast<int>(runs[i].options.seed % 100),
                 score.rate_error.value_or(0), score.covered.value_or(true) ? "covered" : "not covered",
                 score.step_source.c_str(), score.step_f1);
  }
}

nlohmann::ordered_json ToJson(const Summary& summary) {
  nlohmann::ordered_json json = {{"runs", summary.runs}, {"vramtrack", ToJson(summary.ours)}};
  for (size_t i = 0; i < summary.rivals.size(); ++i) json["rivals"][Rivals()[i].name] = ToJson(summary.rivals[i]);
  json["rate_within_half_a_percent"] = ToJson(summary.rate_close);
  json["rate_error_median"] = Quantile(summary.rate_errors, .5);
  json["rate_error_p90"] = Quantile(summary.rate_errors, .9);
  json["interval_coverage"] = ToJson(summary.covered);
  json["interval_coverage_of_random_rates"] = ToJson(summary.covered_random);
  json["onset_within_5_steps"] = ToJson(summary.onset_close);
  json["classes"] = ToJson(summary.classes);
  json["step_f1"] = summary.runs > 0 ? summary.step_f1 / summary.runs : 0;
  json["steps_right"] = ToJson(summary.steps_right);
  for (const auto& [classes, count] : summary.confusion) {
    json["confusion"].push_back({{"right", classes.first}, {"said", classes.second}, {"sites", count}});
  }
  return json;
}

}  // namespace vramtrack::corpus
