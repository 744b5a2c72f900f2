// SPDX-License-Identifier: Apache-2.0
#include "analyzer/check/site_findings.h"

#include "absl/strings/str_cat.h"
#include "analyzer/base/quantity.h"
#include "analyzer/check/limit_kinds.h"
#include "analyzer/check/limits.h"
#include "analyzer/model/frame_text.h"
#include "analyzer/model/whole_leak.h"

namespace vramtrack {

size_t FrameToAnnotate(const std::vector<ReportFrame>& frames, size_t from) {
  for (const bool own : {true, false}) {
    for (size_t i = from; i < frames.size(); ++i) {
      if (frames[i].line == 0 || (own && frames[i].origin != ReportFrame::Origin::kJob)) continue;
      return i;
    }
  }
  return from;
}

void NameByFrame(const std::vector<ReportFrame>& frames, size_t frame, CheckFinding* finding) {
  finding->frames = frames;
  finding->naming_frame = FrameToAnnotate(frames, frame);
  if (finding->naming_frame >= frames.size()) {
    finding->subject = "(no stack recorded)";
    return;
  }
  const ReportFrame& named = frames[finding->naming_frame];
  finding->subject = FrameFunction(named);
  if (finding->subject.empty()) finding->subject = FrameLocation(named);
  finding->file = named.file;
  finding->line = named.line;
}

CheckFinding FindingOf(const ReportSite& site) {
  CheckFinding finding;
  NameByFrame(site.frames, site.blame_frame, &finding);
  finding.site = finding.key = site.id;
  finding.device = site.device;
  return finding;
}

RatePer PerOf(const ReportSite& site) { return site.rate_unit == RateUnit::kStep ? RatePer::kStep : RatePer::kGiB; }

std::optional<double> RateOfAll(const ReportSite& site, RatePer per) {
  const ReportLeak leak = WholeOf(site);
  const bool objects = leak.rate_bytes_per_step <= 0;
  if (per == PerOf(site)) return objects ? leak.rate_objects_per_step : leak.rate_bytes_per_step;
  if (per == RatePer::kSecond && !objects) return site.rate_bytes_per_second;
  return std::nullopt;
}

std::optional<double> RateFor(const ReportSite& site, RatePer per) {
  const std::optional<double> all = RateOfAll(site, per);
  const std::optional<WorstRank> worst = WorstRankOf(site);
  if (!all || !worst) return all;
  return per == PerOf(site) ? worst->rate : *all * worst->rate / worst->together;
}

std::string WhyNoRate(RatePer asked, RatePer per) {
  return absl::StrCat("the trace has ", per == RatePer::kStep ? "" : "no ", "steps: its leaks are known per ",
                      PerName(per), ", and a budget per ", PerName(asked), " says nothing of them");
}

std::string LeakMessage(const ReportSite& site, const Limit* limit) {
  const ReportLeak leak = WholeOf(site);
  const bool objects = leak.rate_bytes_per_step <= 0;
  const LimitUnit unit = objects ? LimitUnit::kObjectsPerStep : LimitUnit::kBytesPerStep;
  const double all = objects ? leak.rate_objects_per_step : leak.rate_bytes_per_step;
  const std::optional<WorstRank> worst = WorstRankOf(site);
  std::string text = absl::StrCat(site.verdict == Verdict::kAcceleratingLeak ? "leaks more and more, at present "
                                  : site.verdict == Verdict::kGrowingBuffer  ? "grows by replacement, by "
                                                                             : "leaks ",
                                  FormatValue(worst ? worst->rate : all, unit, /*share=*/false, PerOf(site)));
  if (worst) {
    absl::StrAppend(&text, WorstRankText(*worst, FormatValue(all, unit, /*share=*/false, PerOf(site))));
  } else if (!objects) {
    const std::string interval = FormatByteInterval(leak.rate_ci_low, leak.rate_ci_high);
    if (!interval.empty()) absl::StrAppend(&text, " (", interval, ")");
  }
  absl::StrAppend(&text, site.device ? absl::StrCat(" on device ", *site.device) : " of host memory");
  if (site.parts > 0) absl::StrAppend(&text, ", at ", Plural(site.parts + 1, "place", "places"));
  if (site.onset_step) absl::StrAppend(&text, " from step ", *site.onset_step, " on");
  if (limit != nullptr && limit->per == RatePer::kSecond) {
    absl::StrAppend(&text, ", ", FormatValue(RateFor(site, limit->per).value_or(0), unit, /*share=*/false, limit->per));
  }
  if (limit != nullptr) text += BudgetText(*limit, unit);
  return text;
}

}  // namespace vramtrack
