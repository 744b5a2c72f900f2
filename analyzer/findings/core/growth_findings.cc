// SPDX-License-Identifier: Apache-2.0
#include "analyzer/findings/core/growth_findings.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "analyzer/base/median.h"
#include "analyzer/base/quantity.h"
#include "analyzer/findings/core/device_findings.h"
#include "analyzer/leaks/growth.h"
#include "analyzer/leaks/rate.h"
#include "analyzer/model/frame_text.h"
#include "analyzer/verdicts/explanation.h"
#include "analyzer/verdicts/facts.h"

namespace vramtrack {
namespace {

// A leak that makes up this much of the growth decides where its judgement begins.
constexpr double kMainShare = 0.1;
// Lines that leak must make up this much of the growth, or no end of it is predicted.
constexpr double kLeakShare = 0.5;
// Levels that rose less often may have done so by chance.
constexpr size_t kMinRises = 5;
// A step that takes this many times the median is a machine that slept, or a clock that jumped.
constexpr double kOddDuration = 100;
// Lines that are listed; suspects that are named.
constexpr size_t kMostLines = 50, kMostSuspects = 3;
constexpr double kMostOdds = 1e9;

std::optional<uint32_t> BookOfDevice(const GrowthLedger& growth, Book wanted) {
  const auto found = std::find(growth.books().begin(), growth.books().end(), wanted);
  if (found == growth.books().end()) return std::nullopt;
  return static_cast<uint32_t>(found - growth.books().begin());
}

// What grew by how much between two moments of a book. Lines that are one finding are one entry.
struct LineGrowth {
  const LineVerdict* line = nullptr;
  int64_t grown = 0;
};

std::vector<LineGrowth> GrowthOfLines(const ProcessAnalysis& analysis, uint32_t book, size_t from, size_t to) {
  std::map<uint32_t, int64_t> by_line;
  for (const LineVerdict& line : analysis.run_verdicts().lines) {
    if (line.line.book != book) continue;
    for (const SiteIndex site : line.line.sites) {
      const std::vector<HeldLevel> levels = analysis.growth().LevelsOf(site);
      if (levels.empty()) continue;
      const bool bytes = analysis.growth().books()[book].in_bytes();
      const auto at = [&](size_t moment) {
        return static_cast<int64_t>(bytes ? levels[moment].bytes : levels[moment].objects);
      };
      by_line[analysis.verdicts()[site].line] += at(to) - at(from);
    }
  }
  std::vector<LineGrowth> lines;
  for (const auto& [line, grown] : by_line) {
    if (grown != 0) lines.push_back({&analysis.run_verdicts().lines[line], grown});
  }
  std::stable_sort(lines.begin(), lines.end(),
                   [](const LineGrowth& a, const LineGrowth& b) { return a.grown > b.grown; });
  return lines;
}

// Whether a line grows less and less, by the halves of its windows; nullopt if they are too few.
std::optional<bool> Slows(const Judgement& judgement) {
  constexpr double kSlows = 0.7;
  const std::vector<uint64_t>& windows = judgement.windows;
  if (windows.size() < 5 || judgement.gain() <= 0) return std::nullopt;
  const auto middle = static_cast<double>(windows[windows.size() / 2]);
  const double early = middle - static_cast<double>(windows.front()),
               late = static_cast<double>(windows.back()) - middle;
  return late < kSlows * early;
}

ReportGrowthLine DescribeLine(const ProcessAnalysis& analysis, const LineGrowth& growth, double steps) {
  const LineVerdict& verdict = *growth.line;
  const Judgement& judgement = verdict.judgement;
  ReportGrowthLine line;
  line.line = FrameLocation(verdict.line.frame);
  line.function = FrameFunction(verdict.line.frame);
  line.unit = static_cast<LineUnit>(verdict.unit);
  line.grown = growth.grown;
  line.per_step = line.ci_low = line.ci_high = steps > 0 ? static_cast<double>(growth.grown) / steps : 0;
  if (verdict.leaks() || verdict.unsure()) {
    const bool bytes = analysis.growth().books()[verdict.line.book].in_bytes();
    line.per_step = bytes ? judgement.rate.bytes_per_step : judgement.rate.objects_per_step;
    line.ci_low = bytes ? judgement.rate.bytes_interval.low : line.per_step;
    line.ci_high = bytes ? judgement.rate.bytes_interval.high : line.per_step;
    line.why = verdict.unsure() ? WhyNotSure(verdict) : "";
    line.not_slowing = !Slows(judgement).value_or(true);
  }
  line.verdict = verdict.verdict;
  if (judgement.decisive().any) line.odds = std::min(kMostOdds, std::exp(judgement.log_odds()));
  line.reason = ReasonId(verdict);
  std::set<size_t> groups;
  for (const SiteIndex site : verdict.line.sites) {
    const size_t group = analysis.GroupOf(site);
    if (group != ProcessAnalysis::kNoGroup) groups.insert(group);
  }
  for (const size_t group : groups) line.sites.push_back(ListedSite(group));
  return line;
}

std::optional<ReportGrowthLedger> DescribeLedger(const ProcessAnalysis& analysis, std::optional<uint32_t> book) {
  if (!book) return std::nullopt;
  const BookLevels levels = analysis.growth().LevelsOf(*book);
  const RunShape& run = analysis.run();
  std::vector<size_t> quiet = QuietMoments(levels.of_book, run.warmup_end / levels.bin_steps);
  if (quiet.size() < 2) quiet = QuietMoments(levels.of_book, 0);
  if (quiet.size() < 2) return std::nullopt;
  const size_t from = quiet.front(), to = quiet.back();
  ReportGrowthLedger ledger;
  ledger.from = levels.of_book[from];
  ledger.to = levels.of_book[to];
  ledger.grown = static_cast<int64_t>(ledger.to) - static_cast<int64_t>(ledger.from);
  ledger.steps = levels.steps[to] - levels.steps[from];
  ledger.from_step = ReportedStep(run, levels.steps[from]);
  ledger.to_step = ReportedStep(run, levels.steps[to]);
  const std::vector<LineGrowth> lines = GrowthOfLines(analysis, *book, from, to);
  // Those that grew or shrank most.
  std::vector<LineGrowth> listed = lines;
  std::stable_sort(listed.begin(), listed.end(),
                   [](const LineGrowth& a, const LineGrowth& b) { return std::abs(a.grown) > std::abs(b.grown); });
  if (listed.size() > kMostLines) listed.resize(kMostLines);
  std::stable_sort(listed.begin(), listed.end(),
                   [](const LineGrowth& a, const LineGrowth& b) { return a.grown > b.grown; });
  int64_t in_lines = 0;
  for (const LineGrowth& line : listed) {
    ledger.lines.push_back(DescribeLine(analysis, line, static_cast<double>(ledger.steps)));
    in_lines += line.grown;
  }
  ledger.other_lines = lines.size() - listed.size();
  ledger.other_grown = ledger.grown - in_lines;
  return ledger;
}

// Where the growth of a device comes from.
struct Sources {
  double leaking = 0, managed = 0;  // bytes; of `leaking`, managed memory
  double leak_rate_low = 0;         // bytes per step
  bool accelerates = false;
  Step first = 0;  // after the last of the leaks that matter has begun
  std::map<Verdict, double> other;
};

Sources FindSources(const ProcessAnalysis& analysis, uint32_t book) {
  Sources sources;
  double rate = 0;
  for (const LineVerdict& line : analysis.run_verdicts().lines) {
    if (line.line.book != book) continue;
    const double gain = std::max(0.0, line.judgement.gain());
    if (!line.leaks()) {
      sources.other[line.verdict] += gain;
      continue;
    }
    rate += line.judgement.rate.bytes_per_step;
    sources.leaking += gain;
    for (const SiteIndex site : line.parts) {
      if (analysis.ledger().sites()[site].key.kind == schema::MANAGED) {
        sources.managed += gain;
        break;
      }
    }
    sources.leak_rate_low += line.judgement.rate.bytes_interval.low;
    sources.accelerates |= line.verdict == Verdict::kAcceleratingLeak;
  }
  sources.first = analysis.run().warmup_end;
  for (const LineVerdict& line : analysis.run_verdicts().lines) {
    if (line.line.book != book || !line.leaks() || !line.judgement.onset) continue;
    if (line.judgement.rate.bytes_per_step < kMainShare * rate) continue;
    sources.first = std::max(sources.first, line.judgement.leaking.begin);
  }
  return sources;
}

const char* WhyNot(Verdict verdict) {
  switch (verdict) {
    case Verdict::kPhaseAccumulation:
      return "memory is freed when a phase of the job ends";
    case Verdict::kCycleGarbage:
      return "it is freed in bursts, as by a garbage collector";
    case Verdict::kSublinear:
      return "growth slows down";
    case Verdict::kOneTime:
      return "it was allocated once";
    case Verdict::kInsufficientEvidence:
      return "it is not known whether the lines that grow leak";
    default:
      return "memory varies but nothing accumulates";
  }
}

// Returns why the end of growth is not predicted; "" if lines that leak make up enough of it.
std::string RefusedFor(const Sources& sources) {
  if (sources.accelerates)
    return "accelerating_leak: it grows faster and faster, so the device is full sooner than the rate suggests";
  double all = sources.leaking;
  for (const auto& [verdict, gain] : sources.other) all += gain;
  // CUDA C++ Programming Guide, "GPU Memory Oversubscription".
  if (sources.managed > 0 && sources.managed >= kLeakShare * all) {
    return "most of it is managed memory, which CUDA moves to the host";
  }
  if (sources.leaking > 0 && sources.leaking >= kLeakShare * all) return "";
  const auto most = std::max_element(sources.other.begin(), sources.other.end(),
                                     [](const auto& a, const auto& b) { return a.second < b.second; });
  const Verdict verdict = most == sources.other.end() ? Verdict::kSteady : most->first;
  return absl::StrCat(NameOf(verdict), ": ", WhyNot(verdict));
}

// How one figure of a device grows.
struct Grown {
  ReportGrowth report;
  size_t rises = 0;
  bool stopped = false;          // as in FittedGrowth
  double points = 0, steps = 0;  // that were judged

  bool surely() const { return report.ci_low > 0; }
};

// `limit_bytes`: where the figure cannot go on; 0: unknown.
Grown Fit(const LevelSeries& series, Step first, double limit_bytes, const std::optional<double>& seconds_per_step) {
  Grown grown;
  const auto begin = static_cast<size_t>(std::ceil(first / series.steps_per_point));
  const std::optional<FittedGrowth> growth = FitGrowth(series, begin);
  if (!growth) {
    const double missing = kMinGrowthSteps - (static_cast<double>(series.low.size()) - static_cast<double>(begin));
    grown.report.refused =
        absl::StrCat("too few steps: ", std::ceil(missing * series.steps_per_point), " more are needed");
    return grown;
  }
  grown.report.bytes_per_step = growth->bytes_per_step;
  grown.report.ci_low = growth->ci_low;
  grown.report.ci_high = growth->ci_high;
  grown.rises = growth->rises;
  grown.stopped = growth->stopped;
  grown.points = static_cast<double>(series.low.size() - begin);
  grown.steps = grown.points * series.steps_per_point;
  if (!grown.surely()) return grown;
  if (limit_bytes <= 0) {
    grown.report.refused = "the size of the device is unknown";
    return grown;
  }
  if (const std::optional<StepsToOom> left = PredictStepsToOom(*growth, series, begin, limit_bytes)) {
    grown.report.steps_to_oom = left->steps;
    grown.report.steps_to_oom_low = left->low;
    grown.report.steps_to_oom_high = left->high;
    if (seconds_per_step) grown.report.seconds_to_oom = left->steps * *seconds_per_step;
  }
  return grown;
}

void Refuse(const std::string& why, ReportGrowth* growth) {
  growth->steps_to_oom.reset();
  growth->seconds_to_oom.reset();
  growth->steps_to_oom_low = growth->steps_to_oom_high = 0;
  growth->refused = why;
}

// Segments, or pages of the driver.
std::string Rises(size_t rises, const char* why) {
  return absl::StrCat("it rose ", rises, rises == 1 ? " time" : " times", why);
}

}  // namespace

std::optional<double> SecondsPerStep(const ProcessAnalysis& analysis) {
  const std::vector<uint64_t>& ends = analysis.ledger().step_ends();
  if (ends.size() < 2) return std::nullopt;
  std::vector<double> durations;
  for (size_t i = std::max<size_t>(1, ends.size() / 2); i < ends.size(); ++i) {
    durations.push_back(ends[i] > ends[i - 1] ? static_cast<double>(ends[i] - ends[i - 1]) : 0);
  }
  const double median = UpperMedian(durations);
  double sum = 0;
  for (const double duration : durations) sum += duration > kOddDuration * median ? median : duration;
  const double ticks = sum / static_cast<double>(durations.size());
  if (ticks <= 0) return std::nullopt;
  return ticks / analysis.trace().clock().ticks_per_second();
}

double BytesForLive(const Scope& scope, uint64_t total) {
  const Moment& peak = scope.peak_moment;
  const auto beside =
      static_cast<double>(scope.segments != nullptr ? peak.framework.overhead + peak.framework.unattributed
                                                    : peak.usage.rounding + (peak.device_used - peak.usage.reserved));
  return static_cast<double>(total) - beside;
}

void DescribeGrowth(const ProcessAnalysis& analysis, ReportDevice* device) {
  const Ledger& ledger = analysis.ledger();
  const DeviceIndex index(device->index);
  const Scope* scope = LeadingScope(ledger, index);
  if (scope == nullptr) return;
  const std::optional<uint32_t> book = BookOfDevice(analysis.growth(), {Book::Of::kDevice, index});
  std::optional<ReportGrowthLedger> lines = DescribeLedger(analysis, book);
  if (!lines) return;
  const Sources sources = FindSources(analysis, *book);
  const std::optional<double> seconds = SecondsPerStep(analysis);

  const Moment& peak = scope->peak_moment;
  const auto total = static_cast<double>(device->total_bytes);
  Grown live = Fit(SeriesOf(scope->floors, scope->ceilings), sources.first,
                   total == 0 ? 0 : std::max(1.0, BytesForLive(*scope, device->total_bytes)), seconds);
  const double outside =
      std::max(0.0, static_cast<double>(peak.device_used) - static_cast<double>(peak.usage.reserved));
  Grown reserved = Fit(LevelsOf(analysis, *scope, DeviceFigure::kReserved), sources.first,
                       total == 0 ? 0 : std::max(1.0, total - outside), seconds);
  // What the framework has reserved for the blocks is not known.
  if (scope->by_handle) reserved = {};
  Grown used = Fit(LevelsOf(analysis, *scope, DeviceFigure::kUsed), sources.first, total, seconds);

  std::string live_refused;
  if (live.surely()) {
    live_refused = analysis.plan().has_windows() ? "no steps were found" : RefusedFor(sources);
    if (scope->by_handle && live_refused.empty()) {
      live_refused = "the framework takes memory in advance, and how much it may take is not known";
    }
    if (live_refused.empty() && sources.leaking < (1 - kMainShare) * live.report.bytes_per_step * live.steps) {
      // Part of it will not go on: the rate is between what leaks and all.
      live.report.ci_low = std::min(live.report.ci_low, sources.leak_rate_low);
    }
    if (!live_refused.empty()) Refuse(live_refused, &live.report);
  }
  for (Grown* other : {&reserved, &used}) {
    if (!other->surely()) {
      const bool follows = live.surely() && live_refused.empty() && other->report.refused.empty();
      if (follows) Refuse("not rising yet: leaked blocks fit into reserved memory", &other->report);
      continue;
    }
    if (!live_refused.empty()) {
      Refuse(live_refused, &other->report);
    } else if (!live.surely()) {
      Refuse(Rises(other->rises, " while live bytes do not grow: fragmentation, or untraced memory"), &other->report);
    } else if (other->rises < kMinRises) {
      Refuse(Rises(other->rises, ", too few to estimate a rate"), &other->report);
    }
  }
  device->growth_of = ReportGrowths{live.report, reserved.report, used.report};
  device->growth = live.report;
  device->growth->ledger = std::move(lines);
}

void DescribeOtherGrowth(const ProcessAnalysis& analysis, ProcessFindings* findings) {
  findings->pinned_growth = DescribeLedger(analysis, BookOfDevice(analysis.growth(), {Book::Of::kHost, kHost}));
  findings->handle_growth = DescribeLedger(analysis, BookOfDevice(analysis.growth(), {Book::Of::kHandles, kHost}));
}

namespace {

std::string SuspectText(const ProcessAnalysis& analysis, const LineVerdict& line, const std::string& holder) {
  const Judgement& judgement = line.judgement;
  const ReportFrame& frame = line.line.frame;
  std::string text = absl::StrCat(FrameLocation(frame), FunctionBehindLocation(frame), " grows by ");
  const bool windows = analysis.run().windows;
  if (analysis.growth().books()[line.line.book].in_bytes()) {
    absl::StrAppend(&text, FormatByteCount(judgement.rate.bytes_per_step), windows ? " per window" : " per step");
    const Interval& interval = judgement.rate.bytes_interval;
    const std::string range = FormatByteRange(interval.low, interval.high);
    if (interval.low < interval.high && !range.empty()) absl::StrAppend(&text, " (", range, ")");
  } else {
    absl::StrAppend(&text, FormatAbout(judgement.rate.objects_per_step), " handles",
                    windows ? " per window" : " per step");
  }
  if (const std::optional<bool> slows = Slows(judgement))
    absl::StrAppend(&text, *slows ? ", slowing" : ", not slowing");
  if (!holder.empty()) absl::StrAppend(&text, ", kept by ", holder);
  return absl::StrCat(text, "; not called a leak: ", WhyNotSure(line));
}

}  // namespace

void DescribeReasons(ProcessAnalysis* analysis, ProcessFindings* findings) {
  std::vector<const LineVerdict*> suspects;
  for (const LineVerdict& line : analysis->run_verdicts().lines) {
    if (line.unsure()) suspects.push_back(&line);
  }
  std::stable_sort(suspects.begin(), suspects.end(), [](const LineVerdict* a, const LineVerdict* b) {
    const Rate &left = a->judgement.rate, &right = b->judgement.rate;
    if (left.bytes_per_step != right.bytes_per_step) return left.bytes_per_step > right.bytes_per_step;
    return left.objects_per_step > right.objects_per_step;
  });
  for (size_t i = 0; i < suspects.size() && i < kMostSuspects; ++i) {
    std::string holder;
    for (const SiteIndex site : suspects[i]->parts) {
      const size_t group = analysis->GroupOf(site);
      if (group == ProcessAnalysis::kNoGroup || !findings->sites[group].holder) continue;
      const ReportHolder& held = *findings->sites[group].holder;
      if (held.container.empty()) continue;
      holder = held.count ? absl::StrCat(held.container, " (", FormatCount(*held.count), " entries)") : held.container;
      break;
    }
    findings->reasons.push_back({ReasonId(*suspects[i]), SuspectText(*analysis, *suspects[i], holder)});
  }
  const ReplayedRun run = analysis->replayed();
  for (Reason& reason : RunReasons(run, analysis->run_verdicts(), analysis->run())) {
    findings->reasons.push_back({reason.id, std::move(reason.sentence)});
  }
}

}  // namespace vramtrack
