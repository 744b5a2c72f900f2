// SPDX-License-Identifier: Apache-2.0
#include "analyzer/check/judge.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "analyzer/base/display_text.h"
#include "analyzer/check/limit_kinds.h"
#include "analyzer/check/limits.h"
#include "analyzer/check/regressions.h"
#include "analyzer/check/site_findings.h"
#include "analyzer/model/answer.h"
#include "analyzer/model/check_report.h"
#include "analyzer/model/oom_lines.h"
#include "analyzer/model/whole_leak.h"

namespace vramtrack {
namespace {

CheckFinding On(const ReportDevice& device) {
  CheckFinding finding;
  finding.subject = absl::StrCat("device ", device.index);
  finding.device = device.index;
  return finding;
}

bool IsFor(const CheckException& exception, const CheckFinding& finding) {
  const std::vector<std::string>& rules = exception.rules;
  if (!rules.empty() && std::find(rules.begin(), rules.end(), finding.rule) == rules.end()) return false;
  if (!exception.site.empty() && exception.site != finding.site) return false;
  if (exception.device && exception.device != finding.device) return false;
  if (exception.frame.empty()) return true;
  return std::any_of(finding.frames.begin(), finding.frames.end(),
                     [&](const ReportFrame& frame) { return exception.frame.Matches(frame); });
}

class Judge {
 public:
  Judge(const Report& report, const DiffReport* diff, const CheckOptions& options)
      : report_(report),
        baseline_(diff),
        diff_(diff != nullptr && diff->comparable ? diff : nullptr),
        options_(options),
        used_exceptions_(options.budgets.exceptions.size()) {}

  CheckReport Run();

 private:
  bool Fails(const std::string& rule) const { return options_.fail_on.empty() || options_.fail_on.count(rule) != 0; }
  CheckedRule& RuleOf(const std::string& id);
  void NotJudged(const std::string& rule, const std::string& why);
  // Adds a finding on a device or rank whose value breaks a limit.
  void AddBroken(const std::string& rule, double value, const Limit& limit, LimitUnit unit, CheckFinding finding);

  std::optional<Limit> LimitOf(const LimitKind& kind, std::optional<uint32_t> device) const;
  std::optional<Limit> ForTrace(std::optional<Limit> limit) const;
  struct Leak {
    const ReportSite* leader;
    const DiffFinding* change;  // of one of its sites; null: none has changed, or there is no baseline
    double base_rate;           // bytes per step, of all its sites
    bool material;
  };
  std::vector<Leak> Leaks(FasterLeaks* worse);
  void JudgeLeaks();
  void JudgeFailures();
  void JudgeMeasured(const LimitKind& kind, const Limit& limit, const std::optional<double>& value,
                     CheckFinding finding);
  void JudgeDevices();
  void JudgeCategories(const ReportDevice& device);
  void JudgeRanks();
  void JudgeRegressions();
  void JudgeEvidence(CheckReport* check);
  // Marks a finding as excepted if an exception matches it. One that has expired, or whose limit is exceeded, only
  // changes the message.
  void ApplyExceptions(CheckFinding* finding);
  // Returns one line for each exception that matched no finding.
  std::vector<std::string> UnusedExceptions() const;

  const Report& report_;
  const DiffReport* baseline_;
  const DiffReport* diff_;  // the same if it can be compared with
  const CheckOptions& options_;
  std::vector<bool> used_exceptions_;
  std::vector<CheckFinding> findings_;
  std::map<std::string, CheckedRule> rules_;
  std::vector<std::string> notes_;
  std::string not_comparable_;  // why a leak could not be held against its budget; empty: each could
};

CheckedRule& Judge::RuleOf(const std::string& id) {
  CheckedRule& checked = rules_[id];
  checked.rule = id;
  return checked;
}

void Judge::NotJudged(const std::string& rule, const std::string& why) {
  CheckedRule& checked = RuleOf(rule);
  checked.result = CheckedRule::Result::kNotJudged;
  if (checked.note.empty()) checked.note = why;
}

std::optional<Limit> Judge::LimitOf(const LimitKind& kind, std::optional<uint32_t> device) const {
  const auto found = device ? options_.budgets.devices.find(*device) : options_.budgets.devices.end();
  const bool has_own = found != options_.budgets.devices.end() && found->second.*kind.limit;
  return ForTrace((has_own ? found->second : options_.budgets.job).*kind.limit);
}

// Zero needs no unit.
std::optional<Limit> Judge::ForTrace(std::optional<Limit> limit) const {
  if (limit && limit->value == 0) limit->per = PerOf(report_);
  return limit;
}

// Leaks with what belongs to them: one is one finding, however many sites it has.
std::vector<Judge::Leak> Judge::Leaks(FasterLeaks* worse) {
  std::vector<Leak> leaks;
  for (const auto& [leader, members] : LeakMembers(report_.sites)) {
    Leak leak{&report_.sites[leader], nullptr, 0, false};
    const auto add = [&](const ReportSite& site) {
      const DiffFinding* change = worse == nullptr ? nullptr : worse->Find(site);
      if (leak.change == nullptr) leak.change = change;
      leak.base_rate += change == nullptr ? site.rate_bytes_per_step : change->base_leak ? change->base_value : 0;
      leak.material |= site.verdict != Verdict::kMinorLeak;
    };
    add(*leak.leader);
    for (const size_t member : members) {
      if (member != leader) add(report_.sites[member]);
    }
    leaks.push_back(leak);
  }
  return leaks;
}

void Judge::JudgeLeaks() {
  std::optional<FasterLeaks> worse;
  if (diff_ != nullptr) worse.emplace(*diff_);
  RuleOf("leak").checked = report_.sites.size();
  for (const Leak& leak : Leaks(worse ? &*worse : nullptr)) {
    const ReportSite& site = *leak.leader;
    if (worse && leak.change == nullptr) continue;
    const LimitKind& kind = kLimitKinds[WholeOf(site).rate_bytes_per_step <= 0 ? 1 : 0];
    const std::optional<Limit> limit = LimitOf(kind, site.device);
    const RatePer per = limit ? limit->per : PerOf(site);
    const std::optional<double> rate = RateFor(site, per);
    if (!rate) not_comparable_ = WhyNoRate(per, PerOf(site));
    if (!rate || (limit ? *rate <= limit->value : !leak.material)) continue;
    CheckFinding finding = FindingOf(site);
    finding.rule = "leak";
    finding.value = *rate;
    finding.unit = UnitOf(kind.unit, false, per);
    finding.message = LeakMessage(site, limit ? &*limit : nullptr);
    const std::optional<WorstRank> worst = WorstRankOf(site);
    if (worst) finding.rank = worst->rank;
    if (limit) finding.limit = limit->value;
    if (leak.change != nullptr) DescribeChange(*leak.change, leak.base_rate, worst.has_value(), &finding);
    findings_.push_back(std::move(finding));
  }
  if (!worse) return;
  for (const DiffFinding* change : worse->Others()) {
    const LimitKind& kind = kLimitKinds[change->unit == ChangeUnit::kObjectsPerStep ? 1 : 0];
    const std::optional<Limit> limit = LimitOf(kind, change->device);
    if (!limit || change->new_value > limit->value) findings_.push_back(LeakRegression(*change));
  }
}

// A job that died of missing memory has failed, whatever its budget. One failure of a device is enough.
void Judge::JudgeFailures() {
  const OomLines lines(report_);
  std::set<std::pair<uint32_t, std::optional<int>>> told;
  for (const ReportOom& oom : report_.oom) {
    if (oom.went_on || !told.emplace(oom.device, oom.rank).second) continue;
    ++RuleOf("oom").checked;
    CheckFinding finding;
    finding.rule = "oom";
    finding.subject = absl::StrCat("device ", oom.device);
    finding.device = oom.device;
    finding.rank = oom.rank;
    finding.key = absl::StrCat("oom|", finding.subject);
    finding.message = "ran out of memory: " + HeadlineOf(report_, oom, lines).text;
    finding.value = static_cast<double>(oom.requested);
    finding.unit = CheckUnit::kBytes;
    findings_.push_back(std::move(finding));
  }
}

void Judge::AddBroken(const std::string& rule, double value, const Limit& limit, LimitUnit unit, CheckFinding finding) {
  finding.rule = rule;
  finding.value = value;
  finding.limit = limit.value;
  finding.unit = UnitOf(unit, limit.share, limit.per);
  findings_.push_back(std::move(finding));
}

void Judge::JudgeMeasured(const LimitKind& kind, const Limit& limit, const std::optional<double>& value,
                          CheckFinding finding) {
  if (!value) {
    NotJudged(kind.rule, absl::StrCat(finding.subject, ": ", WhyUnknown(report_, kind, limit)));
    return;
  }
  ++RuleOf(kind.rule).checked;
  if (IsLeast(kind.unit) ? *value >= limit.value : *value <= limit.value) return;
  // What a rank leaks is its own; of a device it may be that of several.
  const bool of_ranks = kind.limit == &Limits::leak_total && finding.device && !finding.rank;
  const std::optional<WorstRank> worst = of_ranks ? WorstLeaksOf(report_, *finding.device) : std::nullopt;
  if (worst) finding.rank = worst->rank;
  finding.key = absl::StrCat(kind.rule, "|", finding.subject, kind.unit == LimitUnit::kSeconds ? "|seconds" : "");
  finding.message = MeasuredMessage(kind, *value, limit, worst ? &*worst : nullptr);
  AddBroken(kind.rule, *value, limit, kind.unit, std::move(finding));
}

void Judge::JudgeDevices() {
  for (const auto& [number, limits] : options_.budgets.devices) {
    if (FindDevice(report_, number) == nullptr)
      notes_.push_back(absl::StrCat("there are budgets for device ", number, ", which is not in the trace"));
  }
  for (const ReportDevice& device : report_.devices) {
    for (const LimitKind& kind : kLimitKinds) {
      if (kind.of_device == nullptr) continue;  // it is of one leak
      const std::optional<Limit> limit = LimitOf(kind, device.index);
      if (!limit) continue;
      CheckFinding finding = On(device);
      const auto* stack = kind.stack_of_device == nullptr ? nullptr : kind.stack_of_device(report_, device);
      if (stack != nullptr) {
        const std::string subject = finding.subject;  // the limit is of the device, not of the line
        NameByFrame(*stack, 0, &finding);
        finding.subject = subject;
      }
      JudgeMeasured(kind, *limit, kind.of_device(report_, device, *limit), std::move(finding));
    }
    JudgeCategories(device);
  }
}

void Judge::JudgeCategories(const ReportDevice& device) {
  std::map<std::string, Limit> limits = options_.budgets.job.categories;
  if (const auto own = options_.budgets.devices.find(device.index); own != options_.budgets.devices.end()) {
    for (const auto& [name, limit] : own->second.categories) limits[name] = limit;
  }
  for (const auto& [name, limit] : limits) {
    double bytes = 0;
    for (const ReportPeakCategory& category : device.peak_set.categories) {
      if (category.name == name) bytes = static_cast<double>(category.bytes);
    }
    ++RuleOf("category").checked;
    if (bytes <= limit.value) continue;
    CheckFinding finding = On(device);
    finding.key = absl::StrCat("category|", finding.subject, "|", name);
    finding.message = absl::StrCat(FormatValue(bytes, LimitUnit::kBytes), " of ", name, " live at the peak",
                                   BudgetText(limit, LimitUnit::kBytes));
    AddBroken("category", bytes, limit, LimitUnit::kBytes, std::move(finding));
  }
}

void Judge::JudgeRanks() {
  const std::vector<ReportRank> ranks = RanksOf(report_);
  const bool has_ranks = std::any_of(ranks.begin(), ranks.end(), [](const ReportRank& one) { return one.rank; });
  for (const auto& [number, limits] : options_.budgets.ranks) {
    if (!has_ranks) {
      notes_.push_back(
          absl::StrCat("there are budgets for rank ", number, ", but the trace is of a job without ranks"));
      continue;
    }
    const auto rank = std::find_if(ranks.begin(), ranks.end(),
                                   [number = number](const ReportRank& one) { return one.rank == number; });
    for (const LimitKind& kind : kLimitKinds) {
      const std::optional<Limit> limit = ForTrace(limits.*kind.limit);
      if (!limit) continue;
      if (rank == ranks.end()) {
        NotJudged(kind.rule, absl::StrCat("rank ", number, " is not in the trace"));
        continue;
      }
      CheckFinding finding;
      finding.subject = absl::StrCat("rank ", number);
      finding.rank = number;
      JudgeMeasured(kind, *limit, kind.of_rank(report_, *rank, *limit), std::move(finding));
    }
  }
}

void Judge::JudgeRegressions() {
  if (baseline_ == nullptr) return;
  std::string why;
  if (diff_ == nullptr) {
    why = "the baseline cannot be compared with: " + baseline_->reason;
  } else {
    for (CheckFinding& finding : FindRegressions(*diff_, report_)) findings_.push_back(std::move(finding));
    if (!diff_->tested && !diff_->identical) why = "too few steps to rule out chance";
    for (const DiffSide* side : {&diff_->base, &diff_->next}) {
      if (why.empty() && !side->incomplete.empty()) why = "the record is not complete: " + side->incomplete;
    }
  }
  for (const CheckRule& rule : kCheckRules) {
    if (!rule.of_baseline) continue;
    ++RuleOf(rule.id).checked;
    if (!why.empty()) NotJudged(rule.id, why);
  }
}

void Judge::JudgeEvidence(CheckReport* check) {
  const std::string why = report_.reasons.empty() ? not_comparable_ : report_.reasons[0].text;
  if (!why.empty() && Fails("leak")) {
    NotJudged("leak", why);
    check->enough_evidence = false;
    check->evidence_note = why;
  }
  for (auto& [id, rule] : rules_) {
    if (rule.result != CheckedRule::Result::kNotJudged || id == "leak" || !Fails(id)) continue;
    check->enough_evidence = false;
    if (check->evidence_note.empty()) check->evidence_note = rule.note;
  }
}

void Judge::ApplyExceptions(CheckFinding* finding) {
  for (size_t i = 0; i < options_.budgets.exceptions.size(); ++i) {
    const CheckException& exception = options_.budgets.exceptions[i];
    if (!IsFor(exception, *finding)) continue;
    used_exceptions_[i] = true;
    finding->reason = exception.reason;
    finding->expires = exception.expires ? absl::FormatCivilTime(*exception.expires) : "never";
    if (exception.expires && *exception.expires < options_.today) {
      finding->expired = true;
      absl::StrAppend(&finding->message, "; the exception for it expired on ", finding->expires, " (", exception.place,
                      ": ", Printable(exception.reason), ")");
      continue;  // another one may hold
    }
    // A rate per something else cannot be held against it.
    const bool is_rate = IsByteRate(finding->unit);
    const bool compares =
        !is_rate || !exception.up_to || finding->unit == UnitOf(LimitUnit::kBytesPerStep, false, exception.up_to->per);
    if (exception.up_to && (!compares || finding->value > exception.up_to->value)) {
      const LimitUnit unit = compares ? LimitUnit::kBytes : LimitUnit::kBytesPerStep;
      absl::StrAppend(&finding->message, "; the exception for it is up to ", FormatLimit(*exception.up_to, unit), " (",
                      exception.place, ")");
      continue;
    }
    finding->expired = false;
    finding->status = CheckFinding::Status::kExcepted;
    return;
  }
}

std::vector<std::string> Judge::UnusedExceptions() const {
  std::vector<std::string> lines;
  for (size_t i = 0; i < options_.budgets.exceptions.size(); ++i) {
    if (used_exceptions_[i]) continue;
    lines.push_back(absl::StrCat(options_.budgets.exceptions[i].place,
                                 ": the exception is for nothing that was found (",
                                 Printable(options_.budgets.exceptions[i].reason), ")"));
  }
  return lines;
}

CheckReport Judge::Run() {
  CheckReport check;
  check.tool_version = report_.tool_version;
  check.steps = report_.steps.count;
  check.devices = report_.devices.size();
  check.sites = AllSites(report_);
  check.warnings = report_.warnings;
  JudgeLeaks();
  JudgeFailures();
  JudgeDevices();
  JudgeRanks();
  JudgeRegressions();
  JudgeEvidence(&check);

  for (CheckFinding& finding : findings_) {
    if (!Fails(finding.rule)) finding.status = CheckFinding::Status::kWarning;
    ApplyExceptions(&finding);
    if (finding.status == CheckFinding::Status::kFailed) rules_[finding.rule].result = CheckedRule::Result::kFailed;
    check.failed += finding.status == CheckFinding::Status::kFailed;
    check.warned += finding.status == CheckFinding::Status::kWarning;
    check.excepted += finding.status == CheckFinding::Status::kExcepted;
  }
  for (std::string& line : notes_) check.warnings.push_back(std::move(line));
  for (std::string& line : UnusedExceptions()) check.warnings.push_back(std::move(line));
  // In the order of the rules; within one as they were found: leaks by rate, devices by number.
  for (const CheckRule& rule : kCheckRules) {
    for (CheckFinding& finding : findings_) {
      if (finding.rule == rule.id) check.findings.push_back(std::move(finding));
    }
    if (const auto found = rules_.find(rule.id); found != rules_.end()) check.rules.push_back(found->second);
  }
  return check;
}

}  // namespace

CheckReport Check(const Report& report, const DiffReport* diff, const CheckOptions& options) {
  return Judge(report, diff, options).Run();
}

}  // namespace vramtrack
