// SPDX-License-Identifier: Apache-2.0
//
// Plans the passes over a trace that an analysis makes, in order. The plan is made before any event is read; some of
// its passes are made only if an earlier one requests them.
#ifndef ANALYZER_FINDINGS_CORE_PASS_PLAN_H_
#define ANALYZER_FINDINGS_CORE_PASS_PLAN_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/base/analysis_progress.h"
#include "analyzer/findings/core/step_marks.h"
#include "analyzer/ingest/trace.h"

namespace vramtrack {

// The last one is never planned: comparisons add it if they need it.
enum class Pass : uint8_t { kActivities, kMarks, kStream, kSites, kDetail, kDivergence };

// Collects the finished plans of several traces, one text each. Thread-safe.
class PassLog {
 public:
  void Add(const std::string& path, std::string text);
  // Returns the texts in the order of the traces' paths.
  std::string Text() const;

 private:
  mutable std::mutex mutex_;
  std::vector<std::pair<std::string, std::string>> texts_;
};

// The plan of one trace. Thread-compatible; the progress may be read from any thread.
class PassPlan {
 public:
  // `progress` and `log` may be null and must outlive the plan.
  PassPlan(const Trace& trace, const StepMarks& step_marks, AnalysisProgress* progress, PassLog* log);
  ~PassPlan();
  PassPlan(const PassPlan&) = delete;
  PassPlan& operator=(const PassPlan&) = delete;

  // Ends the previous pass and begins this one. Skips planned passes between the two; adds the pass if it is not
  // planned any more.
  void Begin(Pass pass);
  // Names a collector that follows the pass. Call it before the pass begins.
  void AddCollector(Pass pass, const char* collector);
  // Ends the plan and skips the passes that remain.
  void Finish();

  // Returns the plan as lines of text: each pass with its time if it was made, what it answers, and its collectors.
  std::string Text() const;

 private:
  static constexpr size_t kNone = SIZE_MAX;

  enum class State : uint8_t { kPlanned, kMade, kLeftOut };
  struct Row {
    Pass pass;
    State state = State::kPlanned;
    double seconds = 0;
    std::vector<const char*> collectors;
  };

  void End();
  Row* Planned(Pass pass);
  // Skips the planned passes before that row; all that remain if it is null.
  void LeaveOutUntil(const Row* row);

  const Trace& trace_;
  AnalysisProgress* progress_;
  PassLog* log_;
  std::vector<Row> rows_;
  size_t present_ = kNone;  // index of the current row
  std::chrono::steady_clock::time_point began_;
};

}  // namespace vramtrack

#endif  // ANALYZER_FINDINGS_CORE_PASS_PLAN_H_
