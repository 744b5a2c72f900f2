// SPDX-License-Identifier: Apache-2.0
#include "analyzer/check/judge.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "analyzer/check/limits.h"

namespace vramtrack {
namespace {

constexpr uint64_t kMiB = 1 << 20;

ReportFrame Frame(const std::string& function, const std::string& file, uint32_t line) {
  ReportFrame frame;
  frame.function = function;
  frame.file = file;
  frame.line = line;
  frame.language = Language::kCpp;
  return frame;
}

ReportSite Site(const std::string& id, Verdict verdict, double rate) {
  ReportSite site;
  site.id = id;
  site.level = Level::kDriver;
  site.kind = "device";
  site.device = 0;
  site.verdict = verdict;
  site.rate_bytes_per_step = site.rate_ci_low = site.rate_ci_high = rate;
  site.frames = {Frame("cudaMalloc", "", 0), Frame("job::Keep(int)", "/src/job/keep.cu", 12),
                 Frame("main", "main.cc", 3)};
  site.blame_frame = 1;
  return site;
}

Report Job(std::vector<ReportSite> sites) {
  Report report;
  report.steps = {60, StepSource::kMarks, 1};
  ReportProcess process;
  process.pid = 1;
  report.processes.push_back(process);
  ReportDevice device;
  device.total_bytes = 1024 * kMiB;
  device.peak.live = 100 * kMiB;
  device.peak.reserved = 120 * kMiB;
  device.peak.device_used = 150 * kMiB;
  device.asked_free_memory = true;
  ReportGrowth growth;
  growth.bytes_per_step = growth.ci_low = growth.ci_high = 4.0 * kMiB;
  growth.steps_to_oom = 200;
  growth.seconds_to_oom = 50;
  device.growth = growth;
  device.peak_set.categories = {{"activations", 70 * kMiB, 1, {}}, {"parameters", 30 * kMiB, 1, {}}};
  report.devices.push_back(device);
  std::map<std::string, uint64_t> counts;
  for (const ReportSite& site : sites) ++counts[NameOf(site.verdict)];
  report.verdict_counts.assign(counts.begin(), counts.end());
  report.sites = std::move(sites);
  return report;
}

CheckReport Judged(const Report& report, const std::string& budgets = "", const DiffReport* diff = nullptr,
                   std::set<std::string> fail_on = {}) {
  CheckOptions options;
  options.today = absl::CivilDay(2026, 6, 1);
  options.fail_on = std::move(fail_on);
  const absl::StatusOr<Budgets> parsed = ParseBudgets(budgets, "b.toml");
  EXPECT_TRUE(parsed.ok()) << parsed.status();
  if (parsed.ok()) options.budgets = *parsed;
  return Check(report, diff, options);
}

// "rule rule" of the findings that fail.
std::string Failed(const CheckReport& check) {
  std::string rules;
  for (const CheckFinding& finding : check.findings) {
    if (finding.status == CheckFinding::Status::kFailed) rules += (rules.empty() ? "" : " ") + finding.rule;
  }
  EXPECT_EQ(check.failed > 0, ExitCodeOf(check) == 1);
  return rules;
}

TEST(Check, FailsOnEveryLeakThatIsNotMinor) {
  EXPECT_EQ(Failed(Judged(Job({Site("a", Verdict::kLeak, 512)}))), "leak");
  EXPECT_EQ(Failed(Judged(Job({Site("a", Verdict::kAcceleratingLeak, 512)}))), "leak");
  for (const Verdict fine : {Verdict::kMinorLeak, Verdict::kSublinear, Verdict::kPhaseAccumulation, Verdict::kSteady,
                             Verdict::kOneTime, Verdict::kCycleGarbage}) {
    const CheckReport check = Judged(Job({Site("a", fine, 512)}));
    EXPECT_EQ(Failed(check), "") << NameOf(fine);
    EXPECT_EQ(ExitCodeOf(check), 0) << NameOf(fine);
  }
  const CheckReport check = Judged(Job({Site("a", Verdict::kLeak, 512)}));
  EXPECT_EQ(check.findings[0].subject, "job::Keep");
  EXPECT_EQ(check.findings[0].file, "/src/job/keep.cu");
  EXPECT_EQ(check.findings[0].line, 12u);
  EXPECT_EQ(check.findings[0].message, "leaks 512 B per step on device 0");
}

TEST(Check, ALeakOfManySitesIsOneFinding) {
  ReportSite leader = Site("a", Verdict::kLeak, 1000), part = Site("b", Verdict::kLeak, 3000);
  leader.parts = 1;
  leader.group = ReportLeak{};
  leader.group->rate_bytes_per_step = leader.group->rate_ci_low = leader.group->rate_ci_high = 4000;
  part.part_of = ReportSiteIndex(0);
  part.frames[1].line = 99;
  const Report job = Job({leader, part});
  const CheckReport check = Judged(job);
  EXPECT_EQ(Failed(check), "leak");
  EXPECT_EQ(check.findings[0].site, "a");
  EXPECT_EQ(check.findings[0].value, 4000);
  EXPECT_NE(check.findings[0].message.find("at 2 places"), std::string::npos);
  EXPECT_EQ(Failed(Judged(job, "budget.leak = \"3999 B\"")), "leak");
  EXPECT_EQ(Failed(Judged(job, "budget.leak = \"4000 B\"")), "");
  EXPECT_EQ(Failed(Judged(job, "budget.leak = \"4000 B\"\nbudget.leak_total = \"3999 B\"")), "leak-total");
}

TEST(Check, WithABudgetForLeaksOnlyThoseAboveItFail) {
  const Report job =
      Job({Site("a", Verdict::kLeak, 5000), Site("b", Verdict::kLeak, 1000), Site("c", Verdict::kMinorLeak, 2000)});
  EXPECT_EQ(Failed(Judged(job, "budget.leak = \"1000 B\"")), "leak leak");
  EXPECT_EQ(Failed(Judged(job, "budget.leak = \"4 KiB/step\"")), "leak");
  EXPECT_EQ(Failed(Judged(job, "budget.leak = \"5000 B\"")), "");
  EXPECT_EQ(Failed(Judged(job, "budget.leak = \"5000 B\"\nbudget.leak_total = \"7999 B\"")), "leak-total");
  EXPECT_EQ(Failed(Judged(job, "budget.leak = 0\n[device.0]\nleak = \"5000 B\"")), "")
      << "a device's own limit overrides the general one";
  // Streams have no bytes.
  ReportSite stream = Site("s", Verdict::kLeak, 0);
  stream.rate_objects_per_step = 1;
  EXPECT_EQ(Failed(Judged(Job({stream}), "budget.leak = \"5000 B\"")), "leak");
  EXPECT_EQ(Failed(Judged(Job({stream}), "budget.leak_objects = 1")), "");
}

// Of a job in which both ranks made one on device 0, and rank 1 works on device 1. Each ran for 100 seconds.
Report JobWithContexts(double second_began) {
  Report job = Job({});
  ReportProcess& first = job.processes[0];
  first.duration_s = first.newest_event_s = 100;
  first.contexts.emplace_back().live = 1;
  first.contexts[0].frames = {Frame("main", "/src/main.py", 3)};
  ReportProcess second = first;
  second.newest_event_s = second_began + 100;
  second.contexts[0].idle = true;
  second.contexts[0].seconds = 5;
  second.contexts[0].frames = {Frame("watchdog", "/src/train.py", 41)};
  job.processes.push_back(second);
  return job;
}

TEST(Check, CountsContextsThatAreOnADeviceAtTheSameTime) {
  const CheckReport check = Judged(JobWithContexts(0), "budget.contexts = 1");
  ASSERT_EQ(Failed(check), "contexts");
  EXPECT_EQ(check.findings[0].subject, "device 0");
  EXPECT_EQ(check.findings[0].value, 2);
  EXPECT_EQ(check.findings[0].unit, CheckUnit::kContexts);
  EXPECT_EQ(check.findings[0].line, 41u) << "the one of a process that works elsewhere";
  EXPECT_EQ(Failed(Judged(JobWithContexts(0), "budget.contexts = 2")), "");
  EXPECT_EQ(Failed(Judged(JobWithContexts(96), "budget.contexts = 1")), "") << "the first has ended by then";
  Report other = Job({});
  other.processes[0] = JobWithContexts(0).processes[1];
  EXPECT_EQ(Failed(Judged(other, "budget.contexts = 1")), "") << "of a data loader's worker, alone on the device";
  other.processes[0].contexts.emplace_back().device = 1;
  EXPECT_EQ(Failed(Judged(other, "budget.contexts = 1")), "contexts") << "its process works on device 1";
  Report loop = Job({});
  ReportContext& made = loop.processes[0].contexts.emplace_back();
  made.made = 1000;
  EXPECT_EQ(Failed(Judged(loop, "budget.contexts = 1")), "") << "made and destroyed in a loop";
  made.live = 3;
  EXPECT_EQ(Failed(Judged(loop, "budget.contexts = 1")), "contexts");
}

// A job in which windows of equally many bytes stand for steps.
Report WithoutSteps() {
  Report job = Job({Site("a", Verdict::kLeak, 16 * kMiB)});
  job.steps.unit = StepUnit::kWindow;
  job.steps.window_bytes = 100 * kMiB;
  job.sites[0].rate_unit = RateUnit::kGiB;
  job.sites[0].rate_bytes_per_second = 4096;
  job.devices[0].growth.reset();
  return job;
}

TEST(Check, ABudgetPerStepSaysNothingOfATraceWithoutSteps) {
  const Report job = WithoutSteps();
  for (const char* budget : {"budget.leak = \"1 KiB/step\"", "budget.leak = \"1000 B\"",
                             "budget.leak_total = \"1 KiB/step\"", "budget.growth = \"1 KiB/step\""}) {
    const CheckReport check = Judged(job, budget);
    EXPECT_EQ(ExitCodeOf(check), Failed(check) == "leak" ? 1 : 3) << budget;
    EXPECT_NE(check.evidence_note.find("no steps"), std::string::npos) << budget << ": " << check.evidence_note;
  }
  EXPECT_EQ(ExitCodeOf(Judged(job, "budget.leak = \"1000 B\"")), 3);
  EXPECT_EQ(
      Judged(job, "budget.leak = \"1000 B\"").evidence_note,
      "the trace has no steps: its leaks are known per GiB allocated, and a budget per step says nothing of them");
}

TEST(Check, ARateMayBeGivenInTheTracesOwnUnit) {
  const Report job = WithoutSteps();
  EXPECT_EQ(Failed(Judged(job, "budget.leak = \"15 MiB/GiB\"")), "leak");
  EXPECT_EQ(Failed(Judged(job, "budget.leak = \"16 MiB/GiB\"")), "");
  EXPECT_EQ(ExitCodeOf(Judged(job, "budget.leak = \"16 MiB/GiB\"")), 0);
  EXPECT_EQ(Failed(Judged(job, "budget.leak = \"4 KiB/s\"")), "");
  EXPECT_EQ(Failed(Judged(job, "budget.leak = \"3 KiB/s\"")), "leak");
  EXPECT_EQ(Failed(Judged(job, "budget.leak = \"16 MiB/GiB\"\nbudget.leak_total = \"15 MiB/GiB\"")), "leak-total");
  // Zero needs no unit.
  EXPECT_EQ(Failed(Judged(job, "budget.leak = 0")), "leak");
  EXPECT_EQ(Failed(Judged(job, "budget.leak = \"16 MiB/GiB\"\nbudget.leak_total = 0")), "leak-total");
  const CheckReport check = Judged(job, "budget.leak = \"15 MiB/GiB\"");
  EXPECT_EQ(check.findings[0].unit, CheckUnit::kBytesPerGiB);
  EXPECT_EQ(check.findings[0].message,
            "leaks 16.0 MiB per GiB allocated on device 0; the budget is 15.0 MiB per GiB "
            "allocated (b.toml:1)");
  EXPECT_EQ(Failed(Judged(job,
                          "[[exception]]\nrule = \"leak\"\nup_to = \"17 MiB/GiB\"\nreason = \"known\"\nexpires = "
                          "\"never\"")),
            "");
  EXPECT_EQ(Failed(Judged(job,
                          "[[exception]]\nrule = \"leak\"\nup_to = \"17 MiB/step\"\nreason = \"known\"\nexpires = "
                          "\"never\"")),
            "leak")
      << "per step it says nothing of a rate per GiB";
  // One with steps has no rate per GiB.
  EXPECT_EQ(ExitCodeOf(Judged(Job({Site("a", Verdict::kLeak, 5000)}), "budget.leak = \"1 KiB/GiB\"")), 3);
}

TEST(Check, JudgesDevicesByTheirBudgets) {
  const Report job = Job({});
  EXPECT_EQ(Failed(Judged(job,
                          "[budget]\npeak = \"100 MiB\"\nreserved = \"120 MiB\"\ndevice_used = \"150 MiB\"\n"
                          "growth = \"4 MiB/step\"\nfragmentation = \"20 MiB\"\nsteps_to_oom = 200\n"
                          "categories.activations = \"70 MiB\"")),
            "");
  EXPECT_EQ(Failed(Judged(job,
                          "[budget]\npeak = \"99 MiB\"\nreserved = \"119 MiB\"\ndevice_used = \"149 MiB\"\n"
                          "growth = \"3 MiB/step\"\nfragmentation = \"19 MiB\"\nsteps_to_oom = 201\n"
                          "categories.activations = \"69 MiB\"\ncategories.gradients = 0")),
            "peak reserved device-used growth fragmentation time-to-oom category");
  EXPECT_EQ(Failed(Judged(job, "budget.fragmentation = \"16 %\"")), "fragmentation");
  EXPECT_EQ(Failed(Judged(job, "budget.fragmentation = \"17 %\"")), "");
  EXPECT_EQ(Failed(Judged(job, "budget.peak = \"1 B\"\n[device.0]\npeak = \"1 GiB\"")), "");
  const CheckReport check = Judged(job, "[budget]\npeak = \"99 MiB\"");
  EXPECT_EQ(check.findings[0].message, "100 MiB live at the peak; the budget is 99.0 MiB (b.toml:2)");
}

TEST(Check, APercentageIsOfTheDevice) {
  Report job = Job({});
  const auto at = [&](const std::string& budget) { return Failed(Judged(job, "budget." + budget)); };
  // 100, 120 and 150 of 1,024 MiB.
  EXPECT_EQ(at("peak = \"9.77 %\""), "");
  EXPECT_EQ(at("peak = \"9.76 %\""), "peak");
  EXPECT_EQ(at("reserved = \"11.72 %\""), "");
  EXPECT_EQ(at("reserved = \"11.71 %\""), "reserved");
  EXPECT_EQ(at("device_used = \"14.65 %\""), "");
  EXPECT_EQ(at("device_used = \"14.64 %\""), "device-used");
  job.devices[0].asked_free_memory = false;
  EXPECT_EQ(ExitCodeOf(Judged(job, "budget.device_used = \"15 %\"")), 3) << "the CUDA context is missing";
  EXPECT_EQ(at("device_used = \"14.64 %\""), "device-used");
  const CheckReport check = Judged(job, "budget.peak = \"5 %\"");
  ASSERT_EQ(check.findings.size(), 1u);
  EXPECT_EQ(check.findings[0].unit, CheckUnit::kShare);
  EXPECT_DOUBLE_EQ(check.findings[0].value, 100.0 / 1024);
  EXPECT_DOUBLE_EQ(*check.findings[0].limit, .05);
  job.devices[0].total_bytes = 0;
  EXPECT_EQ(ExitCodeOf(Judged(job, "budget.peak = \"5 %\"")), 3);
  EXPECT_EQ(ExitCodeOf(Judged(job, "budget.peak = \"1 GiB\"")), 0);
}

TEST(Check, JudgesTimeInSeconds) {
  Report job = Job({});
  EXPECT_EQ(ExitCodeOf(Judged(job, "budget.seconds_to_oom = 50")), 0);
  const CheckReport check = Judged(job, "budget.seconds_to_oom = \"51 s\"\nbudget.steps_to_oom = 201");
  EXPECT_EQ(Failed(check), "time-to-oom time-to-oom");
  EXPECT_EQ(check.findings[1].unit, CheckUnit::kSeconds);
  EXPECT_EQ(check.findings[1].value, 50);
  EXPECT_EQ(check.findings[1].limit, 51);
  EXPECT_NE(check.findings[0].key, check.findings[1].key);
  job.devices[0].growth->seconds_to_oom.reset();
  EXPECT_EQ(ExitCodeOf(Judged(job, "budget.seconds_to_oom = 50")), 3);
  EXPECT_EQ(ExitCodeOf(Judged(job, "budget.steps_to_oom = 200")), 0);
  job.devices[0].growth = ReportGrowth{};
  EXPECT_EQ(ExitCodeOf(Judged(job, "budget.seconds_to_oom = 50")), 0) << "it does not grow";
}

TEST(Check, WhatDoesNotGrowIsNeverFull) {
  Report job = Job({});
  job.devices[0].growth = ReportGrowth{};
  EXPECT_EQ(ExitCodeOf(Judged(job, "budget.steps_to_oom = 1000000")), 0);
  EXPECT_EQ(ExitCodeOf(Judged(job, "budget.growth = 0")), 0);
  // It grows, and nobody knows how long.
  job.devices[0].growth->ci_low = 5;
  EXPECT_EQ(ExitCodeOf(Judged(job, "budget.steps_to_oom = 1000000")), 3);
  job.devices[0].growth.reset();
  EXPECT_EQ(ExitCodeOf(Judged(job, "budget.growth = 0")), 3);
  EXPECT_EQ(ExitCodeOf(Judged(job)), 0) << "nobody asks";
}

TEST(Check, JudgesRanks) {
  Report job = Job({});
  for (int number = 0; number < 2; ++number) {
    ReportRank rank;
    rank.rank = number;
    rank.peak_live = (100 + 50 * static_cast<uint64_t>(number)) * kMiB;
    job.ranks.push_back(rank);
  }
  EXPECT_EQ(Failed(Judged(job, "[rank.0]\npeak = \"110 MiB\"\n[rank.1]\npeak = \"110 MiB\"")), "peak");
  EXPECT_EQ(ExitCodeOf(Judged(job, "[rank.7]\npeak = \"1 B\"")), 3);
  const CheckReport without = Judged(Job({}), "[rank.0]\npeak = \"1 B\"");
  EXPECT_EQ(ExitCodeOf(without), 0);
  EXPECT_EQ(without.warnings.size(), 1u);
}

// Ten ranks on ten machines: each sees device 0, and rank 7 leaks most.
Report JobOfTenRanks() {
  ReportSite site = Site("a", Verdict::kLeak, 12 * 1024);
  ReportAcross across;
  across.ranks = across.leak = 10;
  across.rate.emplace();
  across.rate->least = across.rate->median = 1024;
  across.rate->most = 3072;
  across.rate->most_rank = 7;
  site.across = across;
  Report job = Job({site});
  for (int number = 0; number < 10; ++number) {
    ReportRank rank;
    rank.rank = number;
    rank.devices = {0};
    rank.leak_bytes_per_step = number == 7 ? 3072 : 1024;
    job.ranks.push_back(rank);
  }
  return job;
}

TEST(Check, ALimitOfLeaksIsForOneRank) {
  const Report job = JobOfTenRanks();
  EXPECT_EQ(Failed(Judged(job, "[budget]\nleak = \"4 KiB/step\"\nleak_total = \"4 KiB/step\"")), "");
  const CheckReport check = Judged(job, "[budget]\nleak = \"2 KiB/step\"\nleak_total = \"2 KiB/step\"");
  EXPECT_EQ(Failed(check), "leak leak-total");
  ASSERT_EQ(check.findings.size(), 2u);
  for (const CheckFinding& finding : check.findings) {
    EXPECT_EQ(finding.value, 3072) << finding.rule;
    EXPECT_EQ(finding.rank, 7) << finding.rule;
    EXPECT_NE(finding.message.find("3.00 KiB per step in rank 7, the worst of 10 (12.0 KiB per step together)"),
              std::string::npos)
        << finding.message;
  }
}

TEST(Check, ARankThatLeaksAloneIsNotNamedTheWorst) {
  Report job = JobOfTenRanks();
  job.sites[0].across->leak = 1;
  job.sites[0].rate_bytes_per_step = 3072;
  for (ReportRank& rank : job.ranks) rank.leak_bytes_per_step = rank.rank == 7 ? 3072 : 0;
  const CheckReport check = Judged(job, "[budget]\nleak = \"2 KiB/step\"");
  ASSERT_EQ(check.findings.size(), 1u);
  EXPECT_EQ(check.findings[0].value, 3072);
  EXPECT_EQ(check.findings[0].message.find("worst"), std::string::npos) << check.findings[0].message;
}

TEST(Check, SaysWhereThereIsTooLittleEvidence) {
  Report job = Job({Site("a", Verdict::kInsufficientEvidence, 0)});
  job.reasons = {{"chance", "keep.cu:7 may leak"}, {"uncovered", "steps cover little"}};
  CheckReport check = Judged(job);
  EXPECT_EQ(ExitCodeOf(check), 3);
  EXPECT_NE(check.evidence_note.find("keep.cu:7 may leak"), std::string::npos) << check.evidence_note;
  // What has failed has failed.
  EXPECT_EQ(ExitCodeOf(Judged(job, "budget.peak = \"1 B\"")), 1);
  // Leaks are nobody's concern here.
  EXPECT_EQ(ExitCodeOf(Judged(job, "", nullptr, {"peak"})), 0);
  Report no_steps = Job({});
  no_steps.steps = {};
  no_steps.reasons = {{"no_steps", "no steps were found"}};
  EXPECT_EQ(ExitCodeOf(Judged(no_steps)), 3);
  Report lossy = Job({});
  lossy.reasons = {{"incomplete", "the record is not complete"}};
  EXPECT_EQ(ExitCodeOf(Judged(lossy)), 3);
}

TEST(Check, WarnsOnWhatTheCallerDoesNotFailOn) {
  const CheckReport check = Judged(Job({Site("a", Verdict::kLeak, 512)}), "budget.peak = \"1 B\"", nullptr, {"peak"});
  EXPECT_EQ(Failed(check), "peak");
  EXPECT_EQ(check.warned, 1u);
  EXPECT_EQ(ExitCodeOf(Judged(Job({Site("a", Verdict::kLeak, 512)}), "", nullptr, {"peak"})), 0);
}

std::string Exception(const std::string& what) { return "[[exception]]\nreason = \"known\"\n" + what; }

TEST(Check, ExceptsWhatIsKnown) {
  const Report job = Job({Site("0a1b", Verdict::kLeak, 5000)});
  for (const char* what : {"site = \"0a1b\"", "function = \"job::Keep\"", "function = \"job::Keep(int)\"",
                           "function = \"*Keep\"", "file = \"keep.cu\"", "file = \"job/k*.cu\"", "file = \"/src/*\"",
                           "rule = \"leak\"", "function = \"main\"", "file = \"keep.cu\"\nfunction = \"job::?eep\"",
                           "site = \"0a1b\"\ndevice = 0", "rule = \"leak\"\nup_to = \"5000 B\""}) {
    const CheckReport check = Judged(job, Exception(std::string("expires = 2026-06-01\n") + what));
    EXPECT_EQ(ExitCodeOf(check), 0) << what;
    EXPECT_EQ(check.excepted, 1u) << what;
    EXPECT_EQ(check.findings[0].reason, "known");
    EXPECT_TRUE(check.warnings.empty()) << what;
  }
  for (const char* what :
       {"site = \"0a1c\"", "function = \"Keep\"", "file = \"eep.cu\"", "file = \"main.cc\"\nfunction = \"job::Keep\"",
        "rule = \"peak\"", "site = \"0a1b\"\ndevice = 1", "function = \"job::keep\""}) {
    const CheckReport check = Judged(job, Exception(std::string("expires = \"never\"\n") + what));
    EXPECT_EQ(ExitCodeOf(check), 1) << what;
    EXPECT_EQ(check.warnings.size(), 1u) << what << ": it is of no use";
  }
}

TEST(Check, AnExceptionEnds) {
  const Report job = Job({Site("0a1b", Verdict::kLeak, 5000)});
  CheckReport check = Judged(job, Exception("site = \"0a1b\"\nexpires = 2026-05-31"));
  EXPECT_EQ(ExitCodeOf(check), 1);
  EXPECT_TRUE(check.findings[0].expired);
  EXPECT_NE(check.findings[0].message.find("expired on 2026-05-31 (b.toml:1: known)"), std::string::npos)
      << check.findings[0].message;
  // Another one may hold.
  check = Judged(
      job, Exception("site = \"0a1b\"\nexpires = 2026-05-31\n") + Exception("rule = \"leak\"\nexpires = 2026-06-01"));
  EXPECT_EQ(ExitCodeOf(check), 0);
  // Above its limit it fails.
  check = Judged(job, Exception("site = \"0a1b\"\nexpires = \"never\"\nup_to = \"4999 B\""));
  EXPECT_EQ(ExitCodeOf(check), 1);
}

DiffReport Compared() {
  DiffReport diff;
  diff.tested = true;
  return diff;
}

DiffFinding Change(const Report& report, size_t site, ChangeUnit unit, double base, double next) {
  DiffFinding change;
  change.level = Level::kDriver;
  change.device = 0;
  change.new_site = report.sites[site].id.substr(0, report.sites[site].id.find('-'));
  if (base > 0) change.base_site = change.new_site;
  change.frames = report.sites[site].frames;
  change.unit = unit;
  change.base_value = base;
  change.new_value = next;
  change.leak = IsLeak(report.sites[site]);
  change.explanation = "because";
  return change;
}

TEST(CheckAgainstABaseline, WhatWasThereBeforeDoesNotFail) {
  const Report job = Job({Site("a", Verdict::kLeak, 5000), Site("b-2", Verdict::kLeak, 1000)});
  DiffReport diff = Compared();
  EXPECT_EQ(Failed(Judged(job, "", &diff)), "");
  EXPECT_EQ(ExitCodeOf(Judged(job, "", &diff)), 0);
  // A new leak, and a faster one.
  diff.added = {Change(job, 1, ChangeUnit::kBytesLivePerStep, 0, 1000)};
  CheckReport check = Judged(job, "", &diff);
  EXPECT_EQ(Failed(check), "leak");
  EXPECT_EQ(check.findings[0].site, "b-2");
  EXPECT_NE(check.findings[0].message.find("the baseline does not have this site"), std::string::npos);
  diff.grown = {Change(job, 0, ChangeUnit::kBytesLivePerStep, 4000, 5000)};
  diff.grown[0].base_leak = true;
  check = Judged(job, "", &diff);
  EXPECT_EQ(Failed(check), "leak leak");
  EXPECT_NE(check.findings[0].message.find("in the baseline it leaks 3.91 KiB per step"), std::string::npos)
      << check.findings[0].message;
  EXPECT_EQ(Failed(Judged(job, "budget.leak = \"1000 B\"", &diff)), "leak");
  EXPECT_EQ(Failed(Judged(job, "budget.leak = \"5000 B\"", &diff)), "");
  EXPECT_EQ(Failed(Judged(job, "budget.leak_total = \"5000 B\"", &diff)), "leak leak leak-total")
      << "limits hold as ever";
}

TEST(CheckAgainstABaseline, ALeakThatHasAnotherSiteHasBecomeWorse) {
  ReportSite leader = Site("a", Verdict::kLeak, 1000), part = Site("b", Verdict::kLeak, 3000);
  leader.parts = 1;
  leader.group = ReportLeak{};
  leader.group->rate_bytes_per_step = 4000;
  part.part_of = ReportSiteIndex(0);
  const Report job = Job({leader, part});
  DiffReport diff = Compared();
  EXPECT_EQ(Failed(Judged(job, "", &diff)), "");
  diff.grown = {Change(job, 1, ChangeUnit::kBytesLivePerStep, 2000, 3000)};
  diff.grown[0].base_leak = true;
  const CheckReport check = Judged(job, "", &diff);
  EXPECT_EQ(Failed(check), "leak");
  EXPECT_NE(check.findings[0].message.find("in the baseline it leaks 2.93 KiB per step"), std::string::npos)
      << check.findings[0].message;
}

TEST(CheckAgainstABaseline, ALeakIsOneFindingHoweverItIsListed) {
  const Report job = Job({Site("a", Verdict::kLeak, 5000)});
  DiffReport diff = Compared();
  diff.added = {Change(job, 0, ChangeUnit::kBytesLivePerStep, 0, 5000),
                Change(job, 0, ChangeUnit::kObjectsPerStep, 0, 1), Change(job, 0, ChangeUnit::kBytesAtPeak, 0, 300000)};
  EXPECT_EQ(Failed(Judged(job, "", &diff)), "leak");
  // A leak that the report of the run does not list is not lost.
  Report without = job;
  without.sites.clear();
  diff.added.resize(1);
  EXPECT_EQ(Failed(Judged(without, "", &diff)), "leak");
}

TEST(CheckAgainstABaseline, FailsOnWhatHasBecomeWorse) {
  const Report job = Job({Site("a", Verdict::kSteady, 0), Site("b", Verdict::kSteady, 0)});
  DiffReport diff = Compared();
  diff.added = {Change(job, 0, ChangeUnit::kBytesAtPeak, 0, 5 * kMiB)};
  diff.grown = {Change(job, 1, ChangeUnit::kBytesAtPeak, 5 * kMiB, 9 * kMiB)};
  DiffDevice device;
  device.peak = {100, 200, true};
  device.reserved_peak = {100, 200, true};
  device.growth = {1, 2, true};
  device.fragmentation = {1, 2, true};
  device.categories = {{"activations", {1, 2, true}}, {"parameters", {1, 2, false}}};
  diff.devices = {device};
  EXPECT_EQ(Failed(Judged(job, "", &diff)),
            "new-site grown-site peak-regression reserved-regression growth-regression fragmentation-regression "
            "category-regression");
  EXPECT_EQ(Failed(Judged(job, "", &diff, {"leak"})), "");
  // Better, or not more than chance.
  for (DiffValue* value : {&device.peak, &device.reserved_peak, &device.growth, &device.fragmentation})
    *value = {2, 1, true};
  device.categories = {{"activations", {2, 1, true}}, {"parameters", {1, 2, false}}};
  diff = Compared();
  diff.devices = {device};
  diff.gone = diff.shrunk = {Change(job, 0, ChangeUnit::kBytesAtPeak, 5, 1)};
  EXPECT_EQ(Failed(Judged(job, "", &diff)), "");
}

TEST(Check, AJobThatDiedOfMissingMemoryFails) {
  Report job = Job({});
  ReportOom oom;
  oom.requested = 20 * kMiB;
  job.oom = {oom, oom};
  EXPECT_EQ(Failed(Judged(job)), "oom") << "once for each device";
  EXPECT_EQ(Failed(Judged(job, "", nullptr, {"leak"})), "");
  for (ReportOom& one : job.oom) one.went_on = true;
  EXPECT_EQ(Failed(Judged(job)), "");
}

TEST(CheckAgainstABaseline, WhatHasMovedIsNoFinding) {
  const Report job = Job({Site("a", Verdict::kLeak, 5000)});
  DiffReport diff = Compared();
  diff.moved = {Change(job, 0, ChangeUnit::kBytesAtPeak, 5, 5)};
  const CheckReport check = Judged(job, "", &diff);
  EXPECT_TRUE(check.findings.empty());
  EXPECT_EQ(ExitCodeOf(check), 0);
}

TEST(CheckAgainstABaseline, NeedsOneThatCanBeCompared) {
  DiffReport diff;
  diff.comparable = false;
  diff.reason = "nothing in common";
  const CheckReport check = Judged(Job({}), "", &diff);
  EXPECT_EQ(ExitCodeOf(check), 3);
  EXPECT_NE(check.evidence_note.find("nothing in common"), std::string::npos);
  EXPECT_EQ(Failed(Judged(Job({Site("a", Verdict::kLeak, 5000)}), "", &diff)), "leak")
      << "nobody knows whether it is new";
  diff = DiffReport{};
  EXPECT_EQ(ExitCodeOf(Judged(Job({}), "", &diff)), 3) << "too few steps";
  diff.identical = true;
  EXPECT_EQ(ExitCodeOf(Judged(Job({}), "", &diff)), 0);
}

}  // namespace
}  // namespace vramtrack
