// SPDX-License-Identifier: Apache-2.0
#include "analyzer/findings/core/pass_plan.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "analyzer/base/quantity.h"

namespace vramtrack {
namespace {

struct PassText {
  Pass pass;
  const char* name;
  const char* question;
  const char* condition;  // when it is made; empty: always
  bool counts_events;     // into AnalysisProgress::events, while it is made
};

constexpr PassText kPasses[] = {
    {Pass::kActivities, "activities", "which of CUPTI's records are hooked events", "only with CUPTI's records", false},
    {Pass::kMarks, "marks", "where steps may end, by marks", "", false},
    {Pass::kStream, "stream", "where steps may end, by repeated allocations", "only if marks do not tell", true},
    {Pass::kSites, "sites", "what each site holds, step by step; verdicts", "", true},
    {Pass::kDetail, "detail", "details of judged sites", "", true},
    {Pass::kDivergence, "divergence", "where two runs part", "", true},
};

const PassText& TextOf(Pass pass) { return kPasses[static_cast<size_t>(pass)]; }

}  // namespace

void PassLog::Add(const std::string& path, std::string text) {
  std::lock_guard<std::mutex> lock(mutex_);
  texts_.emplace_back(path, std::move(text));
}

std::string PassLog::Text() const {
  std::lock_guard<std::mutex> lock(mutex_);
  std::vector<std::pair<std::string, std::string>> texts = texts_;
  std::sort(texts.begin(), texts.end());
  std::string all;
  for (const auto& [path, text] : texts) all += text;
  return all;
}

PassPlan::PassPlan(const Trace& trace, const StepMarks& step_marks, AnalysisProgress* progress, PassLog* log)
    : trace_(trace), progress_(progress), log_(log) {
  for (const PassText& text : kPasses) {
    if (text.pass == Pass::kActivities && trace.activities().empty()) continue;
    if ((text.pass == Pass::kMarks || text.pass == Pass::kStream) && step_marks.none()) continue;
    if (text.pass == Pass::kDivergence) continue;
    rows_.push_back({text.pass, State::kPlanned, 0, {}});
  }
  if (progress_ == nullptr) return;
  progress_->planned_events += rows_.size() * trace.events();
  progress_->passes = rows_.size();
  progress_->pass = 0;
}

PassPlan::~PassPlan() {
  Finish();
  if (log_ != nullptr) log_->Add(trace_.path(), Text());
}

void PassPlan::End() {
  if (present_ == kNone) return;
  Row& row = rows_[present_];
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began_;
  row.seconds = took.count();
  row.state = State::kMade;
  if (progress_ != nullptr && !TextOf(row.pass).counts_events) progress_->events += trace_.events();
  present_ = kNone;
}

PassPlan::Row* PassPlan::Planned(Pass pass) {
  for (Row& row : rows_) {
    if (row.pass == pass && row.state == State::kPlanned) return &row;
  }
  rows_.push_back({pass, State::kPlanned, 0, {}});
  if (progress_ != nullptr) {
    progress_->planned_events += trace_.events();
    ++progress_->passes;
  }
  return &rows_.back();
}

void PassPlan::LeaveOutUntil(const Row* next) {
  for (Row& row : rows_) {
    if (&row == next) return;
    if (row.state != State::kPlanned) continue;
    row.state = State::kLeftOut;
    if (progress_ == nullptr) continue;
    progress_->planned_events -= trace_.events();
    --progress_->passes;
  }
}

void PassPlan::Begin(Pass pass) {
  End();
  const Row* next = Planned(pass);
  LeaveOutUntil(next);
  present_ = static_cast<size_t>(next - rows_.data());
  if (progress_ != nullptr) ++progress_->pass;
  began_ = std::chrono::steady_clock::now();
}

void PassPlan::AddCollector(Pass pass, const char* collector) { Planned(pass)->collectors.push_back(collector); }

void PassPlan::Finish() {
  End();
  LeaveOutUntil(nullptr);
}

std::string PassPlan::Text() const {
  std::string text = absl::StrCat("passes over ", trace_.path(), ", ", FormatCount(trace_.events()), " events\n");
  int made = 0;
  for (const Row& row : rows_) {
    const PassText& of = TextOf(row.pass);
    const std::string number = row.state == State::kLeftOut ? "-" : absl::StrCat(++made);
    const std::string time = row.state == State::kMade ? absl::StrFormat("%.3f s", row.seconds) : "";
    absl::StrAppendFormat(&text, "  %s  %-10s %9s  %s", number, of.name, time, of.question);
    if (row.state != State::kMade && of.condition[0] != '\0') absl::StrAppend(&text, " (", of.condition, ")");
    if (!row.collectors.empty()) absl::StrAppend(&text, ": ", absl::StrJoin(row.collectors, ", "));
    text += '\n';
  }
  return text;
}

}  // namespace vramtrack
