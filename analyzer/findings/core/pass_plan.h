// SPDX-License-Identifier: Apache-2.0
//
// The passes over a trace that an analysis makes, in their order. The plan is made before any event is read; some of
// its passes are made only if an earlier one asks for them.
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
#include "analyzer/ingest/trace.h"

namespace vramtrack {

// The last is planned by nobody: comparisons may come to need it.
enum class Pass : uint8_t { kActivities, kMarks, kStream, kSites, kDetail, kTrials, kDivergence };

// What the plans of several traces came to, a text for each. Thread-safe.
class PassLog {
 public:
  void Add(const std::string& path, std::string text);
  // In the order of their paths.
  std::string Text() const;

 private:
  mutable std::mutex mutex_;
  std::vector<std::pair<std::string, std::string>> texts_;
};

// Thread-compatible; the progress may be watched from any thread.
class PassPlan {
 public:
  // `progress` and `log` may be null and must outlive the plan.
  PassPlan(const Trace& trace, const std::string& step_marks, AnalysisProgress* progress, PassLog* log);
  ~PassPlan();
  PassPlan(const PassPlan&) = delete;
  PassPlan& operator=(const PassPlan&) = delete;

  // Ends the pass before. Planned passes between the two are left out; a pass that is not planned any more is added.
  void Begin(Pass pass);
  // Names a collector that follows the pass. Before its Begin.
  void Ride(Pass pass, const char* collector);
  // After the last planned pass; those that are left are left out.
  void Finish();

  // The plan as lines of text: each pass with its time if it was made, what it answers, and what follows it.
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
  // The planned ones before that row; all that are left if it is null.
  void LeaveOutUntil(const Row* row);

  const Trace& trace_;
  AnalysisProgress* progress_;
  PassLog* log_;
  std::vector<Row> rows_;
  size_t present_ = kNone;  // index of a row
  std::chrono::steady_clock::time_point began_;
};

}  // namespace vramtrack

#endif  // ANALYZER_FINDINGS_CORE_PASS_PLAN_H_
