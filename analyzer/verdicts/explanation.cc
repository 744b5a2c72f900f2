// SPDX-License-Identifier: Apache-2.0
#include "analyzer/verdicts/explanation.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "analyzer/base/quantity.h"
#include "analyzer/leaks/bursts.h"
#include "analyzer/leaks/survivors.h"
#include "analyzer/verdicts/facts.h"

namespace vramtrack {
namespace {

std::string StepWord(const RunShape& run) { return run.windows ? "window" : "step"; }
// A job may count from -1.
std::string Name(const RunShape& run, Step step) { return std::to_string(static_cast<int64_t>(run.NumberOf(step))); }

std::string Steps(const RunShape& run, uint64_t count) { return Plural(count, StepWord(run), StepWord(run) + "s"); }

std::string Objects(double objects, double bytes) {
  const std::string count = absl::StrCat(FormatAbout(objects), objects == 1 ? " object" : " objects");
  return bytes > 0 ? absl::StrCat(count, " (", FormatByteCount(bytes), ")") : count;
}

// "52 steps checked (6 to 57)".
std::string Checked(const RunShape& run, StepSpan span) {
  return absl::StrCat(Steps(run, span.size()), " checked (", Name(run, span.begin), " to ",
                      Name(run, span.end > 0 ? span.end - 1 : 0), ")");
}

std::string Lifetimes(const Judgement& judgement, const RunShape& run) {
  if (judgement.history.died_objects == 0) return "none was ever freed";
  return absl::StrCat("the others were freed within ",
                      judgement.longest_life == 0 ? "their " + StepWord(run) : Steps(run, judgement.longest_life));
}

std::string Survived(const LineVerdict& verdict, const RunShape& run) {
  const Judgement& judgement = verdict.judgement;
  const Rate& rate = judgement.rate;
  const uint64_t steps = judgement.leaking.size(), with = judgement.left.steps;
  const std::string checked = Checked(run, judgement.leaking);
  std::string text;
  if (rate.period.steps > 0 && rate.period.bytes_repeat && with * rate.period.steps < steps + rate.period.steps) {
    const double times = rate.period.steps;
    text = absl::StrCat(times == 1 ? "each of the " : absl::StrCat("1 in ", FormatAbout(times), " of the "), checked,
                        " left ", Objects(std::round(rate.objects_per_step * times), rate.bytes_per_step * times),
                        " that stayed");
  } else {
    text =
        absl::StrCat(with == steps ? "each of the " : FormatCount(with) + " of ", checked, " left objects that stayed");
  }
  return absl::StrCat(text, "; ", Lifetimes(judgement, run));
}

std::string Rose(const LineVerdict& verdict, const RunShape& run) {
  const Judgement& judgement = verdict.judgement;
  if (judgement.windows.empty()) return "memory grows";
  const auto level = [&](uint64_t value) {
    return judgement.rate.bytes_per_step > 0 || value == 0 ? FormatByteCount(static_cast<double>(value))
                                                           : Objects(static_cast<double>(value), 0);
  };
  return absl::StrCat("its objects are replaced by ",
                      judgement.by_size() ? "larger ones: " : "more: ", level(judgement.windows.front()),
                      " at the quietest moment of ", StepWord(run), " ", Name(run, judgement.window_steps.front()),
                      ", ", level(judgement.windows.back()), " in ", StepWord(run), " ",
                      Name(run, judgement.window_steps.back()), "; it rose in ", judgement.rises, " of ",
                      judgement.windows.size() - 1, " parts of the run and fell in ", judgement.falls);
}

std::string EvidenceText(const LineVerdict& verdict, const RunShape& run) {
  return verdict.judgement.replaced ? Rose(verdict, run) : Survived(verdict, run);
}

}  // namespace

namespace {

// What else explains the evidence about as well.
struct Lookalike {
  Model model;
  const char* id;
  const char* sentence;
};
constexpr Lookalike kLookalikes[] = {
    {Model::kOneTime, "set_up", "set-up looks the same"},
    {Model::kAccident, "chance", "it happened too rarely to rule out chance"},
    {Model::kFilled, "stopped", "it may have stopped"},
    {Model::kFilling, "cache", "a cache of bounded size looks the same"},
    {Model::kUnfreed, "freed_later", "objects that are freed later look the same"},
};

const Lookalike& LookalikeOf(const LineVerdict& verdict) {
  const Model model = verdict.judgement.decisive().posterior.alternative;
  return *std::find_if(std::begin(kLookalikes), std::end(kLookalikes) - 1,
                       [model](const Lookalike& lookalike) { return lookalike.model == model; });
}

constexpr char kSpread[] = "spread";

bool IsSpread(const LineVerdict& verdict) { return verdict.unit != CodeUnit::kLine && verdict.unsure(); }

}  // namespace

std::string ReasonId(const LineVerdict& verdict) {
  if (verdict.reason != nullptr) return verdict.reason->id;
  if (!verdict.unsure()) return "";
  return IsSpread(verdict) ? kSpread : LookalikeOf(verdict).id;
}

std::string WhyNotSure(const LineVerdict& verdict) {
  if (verdict.reason != nullptr) return verdict.why;
  if (IsSpread(verdict)) return "growth is spread over many lines, none of which surely grows";
  return LookalikeOf(verdict).sentence;
}

std::string Explain(const LineVerdict& verdict, const RunShape& run, uint64_t horizon_steps) {
  const Judgement& judgement = verdict.judgement;
  switch (verdict.verdict) {
    case Verdict::kLeak:
    case Verdict::kGrowingBuffer:
      return EvidenceText(verdict, run);
    case Verdict::kAcceleratingLeak:
      return absl::StrCat(EvidenceText(verdict, run), "; the rate grows");
    case Verdict::kMinorLeak:
      return absl::StrCat(EvidenceText(verdict, run), "; that adds up to ",
                          FormatByteCount(judgement.rate.bytes_per_step * static_cast<double>(horizon_steps)), " in ",
                          Steps(run, horizon_steps), ", too little to matter");
    case Verdict::kInsufficientEvidence:
      return absl::StrCat(EvidenceText(verdict, run), "; not called a leak: ", WhyNotSure(verdict));
    default:
      return ExplainClean(verdict.verdict, judgement.history, run);
  }
}

std::string ExplainClean(Verdict verdict, const SiteHistory& history, const RunShape& run) {
  const std::string step = StepWord(run);
  const SurvivorTotal left = TotalOf(SurvivorsIn(history, {0, run.steps}));
  switch (verdict) {
    case Verdict::kSublinear:
      return absl::StrCat(Objects(static_cast<double>(left.objects), static_cast<double>(left.bytes)),
                          " stayed, but growth slows down or has stopped, like a cache that fills");
    case Verdict::kPhaseAccumulation:
    case Verdict::kCycleGarbage: {
      const Bursts bursts = FindBursts(history);
      return absl::StrCat("objects pile up and are freed together",
                          verdict == Verdict::kCycleGarbage ? ", as by a garbage collector" : " at the end of a phase",
                          ": ", FormatAbout(std::round(bursts.mean_objects)), " at a time (",
                          FormatByteCount(bursts.mean_bytes), "), every ", FormatAbout(bursts.mean_gap_steps), " ",
                          step, "s on average");
    }
    case Verdict::kOneTime:
      return absl::StrCat(Objects(static_cast<double>(left.objects), static_cast<double>(left.bytes)), " of ",
                          Steps(run, left.steps), " stayed, and nothing of the others");
    case Verdict::kFragmentationGrowth:
      return "the framework's live bytes do not grow: its allocator reserves more memory, because it cannot reuse what "
             "is free";
    default:
      break;
  }
  if (history.born_objects == 0) return absl::StrCat("it allocated nothing in a complete ", step);
  return absl::StrCat("everything is freed, within ", history.max_completed_lifetime_steps == 0
                                                          ? "its " + step
                                                          : Steps(run, history.max_completed_lifetime_steps));
}

}  // namespace vramtrack
