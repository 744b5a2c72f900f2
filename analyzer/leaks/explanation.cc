// SPDX-License-Identifier: Apache-2.0
#include "analyzer/leaks/explanation.h"

#include <cmath>
#include <cstdio>

#include "analyzer/base/quantity.h"

namespace vramtrack {
namespace {

std::string Count(uint64_t count, const std::string& noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

std::string ObjectsOfBytes(double objects, double bytes) {
  char number[32];
  std::snprintf(number, sizeof number, objects == std::floor(objects) ? "%.0f" : "%.2g", objects);
  std::string text = std::string(number) + (objects == 1 ? " object" : " objects");
  return bytes > 0 ? text + " (" + FormatByteCount(bytes) + ")" : text;
}

std::string Ordinal(uint64_t n) {
  const uint64_t tens = n % 100;
  const char* suffix = "th";
  if (tens < 11 || tens > 13) {
    if (n % 10 == 1) suffix = "st";
    if (n % 10 == 2) suffix = "nd";
    if (n % 10 == 3) suffix = "rd";
  }
  return std::to_string(n) + suffix;
}

class Explainer {
 public:
  Explainer(const LeakVerdict& verdict, const SiteHistory& history, const RunShape& run, const SiteContext& context,
            size_t sites)
      : v_(verdict),
        e_(verdict.evidence),
        history_(history),
        run_(run),
        context_(context),
        step_(run.windows ? "window" : "step"),
        here_(sites == 1 ? "allocated here" : "allocated by these " + std::to_string(sites) + " call stacks") {}

  std::string Text() const {
    switch (v_.verdict) {
      case Verdict::kLeak:
        return LeftBehind() + "; " + FreedLifetimes();
      case Verdict::kAcceleratingLeak:
        return LeftBehind() + "; the leak accelerates: the later half of these " + step_ + "s left " +
               Times(e_.trend.late_to_early.bytes) + " what the earlier half left; " + FreedLifetimes();
      case Verdict::kGrowingBuffer:
        return Replaced();
      case Verdict::kMinorLeak:
        return (e_.buffer.trend != BufferTrend::kNone ? Replaced() : LeftBehind()) + "; that adds up to " +
               FormatByteCount(v_.rate_bytes_per_step * static_cast<double>(run_.horizon_steps)) + " in " +
               Count(run_.horizon_steps, step_) + ", too little to matter" +
               (e_.buffer.trend != BufferTrend::kNone ? "" : "; " + FreedLifetimes());
      case Verdict::kSublinear:
        return Sublinear();
      case Verdict::kPhaseAccumulation:
        return BurstsOf("the end of a phase");
      case Verdict::kCycleGarbage:
        return BurstsOf("a collection");
      case Verdict::kOneTime:
        return OneTime();
      case Verdict::kFragmentationGrowth:
        return LeftBehind() +
               "; the framework's live bytes do not grow: its allocator reserves more memory, because it cannot reuse "
               "what is free";
      case Verdict::kSteady:
        return Steady();
      case Verdict::kInsufficientEvidence:
        return Insufficient();
    }
    return "";
  }

  std::string WhyUnjudged() const {
    if (run_.steps == 0) return "the trace has no complete " + step_;
    if (e_.tested.size() < kMinTestedSteps) {
      return Count(history_.live_objects(), "object") + " stayed, but of " + Count(run_.steps, "complete " + step_) +
             " only " + std::to_string(e_.tested.size()) + " can be judged (" + std::to_string(run_.warmup_end) +
             " are warm-up; objects of the last " + std::to_string(e_.censor_margin) + " may still be in use)";
    }
    if (e_.may_be_freed_at_once) {
      return std::to_string(LeakingSteps()) + " of " + Checked(e_.leaking.size()) +
             " left objects, but all objects from before were freed at once, as a garbage collector does, and these "
             "may be freed at once too";
    }
    return std::to_string(LeakingSteps()) + " of " + Checked(e_.leaking.size()) +
           " left objects, too few to distinguish a leak from " + (e_.may_be_filling ? "a cache that fills" : "chance");
  }

 private:
  // A job may count from -1.
  std::string StepName(Step step) const { return std::to_string(static_cast<int64_t>(run_.NumberOf(step))); }

  // "each of the 52 steps checked (6 to 57) left 1 object (4.00 MiB) that was still live after the last step"
  std::string LeftBehind() const {
    const uint64_t steps = e_.leaking.size();
    const bool exact = e_.period.steps > 0 && e_.period.bytes_repeat;
    const std::string since = v_.onset_step.has_value() ? "since " + step_ + " " + StepName(*v_.onset_step) + ", " : "";
    if (exact && e_.period.steps == 1) {
      return since + "each of the " + Checked(steps) + " left " +
             ObjectsOfBytes(v_.rate_objects_per_step, v_.rate_bytes_per_step) + " that " + AreStillLive();
    }
    const uint64_t leaking_steps = LeakingSteps();
    if (exact && leaking_steps * e_.period.steps < steps + e_.period.steps) {
      return since + "every " + Ordinal(e_.period.steps) + " of the " + Checked(steps) + " left " +
             ObjectsOfBytes(std::round(v_.rate_objects_per_step * e_.period.steps),
                            v_.rate_bytes_per_step * e_.period.steps) +
             " that " + AreStillLive();
    }
    const std::string which = leaking_steps == steps ? "each of the " : std::to_string(leaking_steps) + " of ";
    const std::string average = v_.rate_bytes_per_step > 0 ? FormatByteCount(v_.rate_bytes_per_step)
                                                           : ObjectsOfBytes(v_.rate_objects_per_step, 0);
    return since + "in " + which + Checked(steps) + ", objects " + here_ + " were still live after the last " + step_ +
           ": " + average + " per " + step_ + " on average";
  }

  uint64_t LeakingSteps() const { return TotalOf(SurvivorsIn(history_, e_.leaking)).steps; }

  // They may have been freed afterwards, when the job came to its end.
  std::string AreStillLive() const {
    const double in_period = std::round(v_.rate_objects_per_step * e_.period.steps);
    return std::string(in_period == 1 ? "was" : "were") + " still live after the last " + step_;
  }

  // "52 steps checked (6 to 57)": the last steps of all are not judged.
  std::string Checked(uint64_t steps) const {
    const StepSpan& span = steps == e_.leaking.size() ? e_.leaking : e_.tested;
    return Count(steps, step_) + " checked (" + StepName(span.begin) + " to " +
           StepName(span.end > 0 ? span.end - 1 : 0) + ")";
  }

  // "each object is replaced by a larger one: in 11 of 12 parts of the 93 steps up to step 97 the least live bytes
  // rose, by 250 KiB per step on average, from 3.9 MiB to 27 MiB"
  std::string Replaced() const {
    const BufferGrowth& b = e_.buffer;
    const std::string steps = Count(b.span.size(), step_) + " up to " + step_ + " " + StepName(b.span.end - 1);
    const std::string sizes = ", from " + FormatByteCount(static_cast<double>(b.from_bytes)) + " to " +
                              FormatByteCount(static_cast<double>(b.to_bytes));
    const std::string pace =
        ", by " + FormatByteCount(v_.rate_bytes_per_step) + " per " + step_ + " on average" + sizes;
    if (b.trend == BufferTrend::kGrowsRarely) {
      return Replacement() + ": in the " + steps + " the least live bytes rose " + std::to_string(b.rises) +
             " times, each time to hold what the " + step_ + "s before it needed" + pace;
    }
    const std::string since = v_.onset_step.has_value() ? "since " + step_ + " " + StepName(*v_.onset_step) + " " : "";
    return since + Replacement() + ": in " + std::to_string(b.rises) + " of " + std::to_string(b.windows) +
           " parts of the " + steps + " the least live bytes rose" + pace;
  }

  std::string Replacement() const {
    return e_.buffer.more_objects ? "the objects " + here_ + " are freed soon, but replaced by more of them"
                                  : "each object is replaced by a larger one";
  }

  // Why growth by replacement is not judged yet.
  std::string ReplacedInsufficient() const {
    const BufferGrowth& b = e_.buffer;
    const std::string rose = Replacement() + ", from " + FormatByteCount(static_cast<double>(b.from_bytes)) + " to " +
                             FormatByteCount(static_cast<double>(b.to_bytes)) + " in the " +
                             Count(b.span.size(), step_) + " up to " + step_ + " " + StepName(b.span.end - 1);
    if (b.with_inputs) {
      return rose + ", but the other allocations of these " + step_ + "s grow alike: " +
             (b.more_objects ? "more inputs look the same" : "a growing buffer looks the same as growing inputs") +
             ", and more " + step_ + "s do not help";
    }
    std::string why = ": too few " + step_ + "s to distinguish a buffer that grows without end from one that is freed";
    if (b.resets > 0) why = ", and such a buffer was freed " + Count(b.resets, "time") + " before";
    return rose + why + "; about " + Count(v_.further_steps_needed, "more " + step_) + " are needed";
  }

  std::string FreedLifetimes() const {
    if (history_.died_objects == 0) return "no object " + here_ + " was ever freed";
    std::string text = "the other objects " + here_ + " were freed within ";
    text += e_.max_lifetime_steps == 0 ? "their " + step_ : Count(e_.max_lifetime_steps, step_);
    if (history_.max_setup_lifetime_steps > e_.max_lifetime_steps) {
      text += " (those of the set-up within " + std::to_string(history_.max_setup_lifetime_steps) + ")";
    }
    return text;
  }

  static std::string Times(double ratio) {
    char text[32];
    if (ratio > 100) return "more than 100 times";
    std::snprintf(text, sizeof text, "%.1f times", ratio);
    return text;
  }

  std::string Sublinear() const {
    if (e_.buffer.trend == BufferTrend::kFades) {
      return "each object is replaced by a larger one, but growth slows down: the least live bytes rose from " +
             FormatByteCount(static_cast<double>(e_.buffer.from_bytes)) + " to " +
             FormatByteCount(static_cast<double>(e_.buffer.to_bytes)) + ", most of it in the first half of the " +
             Count(e_.buffer.span.size(), step_) + " up to " + step_ + " " + StepName(e_.buffer.span.end - 1);
    }
    const std::string kept = Count(e_.survivors.objects, "object") + " (" +
                             FormatByteCount(static_cast<double>(e_.survivors.bytes)) + ") of the " +
                             Checked(e_.tested.size()) + " stayed, but ";
    if (e_.trend.trend == Trend::kDecelerating && v_.rate_objects_per_step > 0) {
      char text[160];
      std::snprintf(text, sizeof text,
                    "growth slows down: the later half of these %ss left %.0f %% of what the earlier half left",
                    step_.c_str(), 100 * e_.trend.late_to_early.bytes);
      return kept + text + ", like a cache that fills; " + Count(e_.tested.size(), "more " + step_) +
             " would confirm it";
    }
    return kept + "the last of them was allocated in " + step_ + " " + StepName(LastSurvivor()) +
           " and most of them early, like a cache or a buffer that has filled";
  }

  Step LastSurvivor() const {
    const SurvivorSeries series = SurvivorsIn(history_, e_.tested);
    return series.empty() ? 0 : series.back().step;
  }

  std::string BurstsOf(const char* cause) const {
    char text[240];
    std::snprintf(text, sizeof text,
                  "objects pile up and are freed together at %s: %.0f at a time (%s), every %.1f %ss on average, and "
                  "nothing stays behind",
                  cause, e_.bursts.mean_objects, FormatByteCount(e_.bursts.mean_bytes).c_str(),
                  e_.bursts.mean_gap_steps, step_.c_str());
    return text;
  }

  std::string OneTime() const {
    if (run_.steps == 0) {
      return Count(context_.allocations, "allocation") + " in the whole run, which has no complete " + step_;
    }
    std::string text;
    if (e_.survivors_before > 0) {
      text =
          Count(e_.survivors_before, "object") + " from before " + step_ + " " + StepName(run_.warmup_end) + " stayed";
    }
    if (e_.survivors.objects > 0) {
      text += (text.empty() ? "" : " and ") + Count(e_.survivors.objects, "object") + " of " +
              Count(e_.survivors.steps, "later " + step_) + (text.empty() ? " stayed" : "");
    }
    return text + "; the other " + step_ + "s left nothing";
  }

  std::string Steady() const {
    if (context_.segments == SegmentRole::kFrameworkGrowing && e_.survivors.objects > 0) {
      return "it grows because the framework's live bytes grow: see the sites of the framework";
    }
    if (history_.born_objects == 0) return "it allocated nothing in a complete " + step_;
    if (history_.live_objects() == 0)
      return "everything that complete " + step_ + "s allocated was freed; " + FreedLifetimes();
    if (e_.max_lifetime_steps == 0)
      return "nothing allocated before the last " + step_ + "s is live; " + FreedLifetimes();
    return "live objects are no older than the freed objects " + here_ + " were (" +
           Count(e_.max_lifetime_steps, step_) + ")";
  }

  std::string Insufficient() const {
    if (e_.buffer.trend != BufferTrend::kNone) return ReplacedInsufficient();
    const std::string about = run_.steps > 0 && e_.tested.size() >= kMinTestedSteps ? "about " : "";
    return WhyUnjudged() + "; " +
           (v_.further_steps_needed == 0 ? "more " + step_ + "s do not help"
                                         : about + Count(v_.further_steps_needed, "more " + step_) + " are needed");
  }

  const LeakVerdict& v_;
  const LeakEvidence& e_;
  const SiteHistory& history_;
  const RunShape& run_;
  const SiteContext& context_;
  const std::string step_;  // or "window", where nobody knows what the job's steps are
  const std::string here_;
};

}  // namespace

std::string Explain(const LeakVerdict& verdict, const SiteHistory& history, const RunShape& run,
                    const SiteContext& context, size_t sites) {
  return Explainer(verdict, history, run, context, sites).Text();
}

std::string WhyUnjudged(const LeakVerdict& verdict, const SiteHistory& history, const RunShape& run,
                        const SiteContext& context) {
  return Explainer(verdict, history, run, context, 1).WhyUnjudged();
}

}  // namespace vramtrack
