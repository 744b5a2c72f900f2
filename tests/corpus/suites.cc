// SPDX-License-Identifier: Apache-2.0
#include "tests/corpus/suites.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <thread>

#include "tests/corpus/cases.h"

namespace vramtrack::corpus {
namespace {

constexpr int kInjectedSites = 50;
constexpr int kInjectedRates[] = {1, 2, 5, 10, 50};

bool IsSelected(const Selection& selection, const std::string& id) {
  return selection.cases.empty() ||
         std::find(selection.cases.begin(), selection.cases.end(), id) != selection.cases.end();
}

// The same number for the same text, so that each case has a job of its own.
uint64_t SeedOf(const std::string& id, int seed) {
  uint64_t value = 1469598103934665603;
  for (const char c : id) value = (value ^ static_cast<unsigned char>(c)) * 1099511628211;
  return value % 100003 * 100 + static_cast<uint64_t>(seed);
}

void AddRuns(RunSpec run, const Selection& selection, int seeds, std::vector<RunSpec>* runs) {
  for (const int steps : selection.steps) {
    for (int seed = 0; seed < seeds; ++seed) {
      run.options.steps = steps;
      run.options.seed = SeedOf(run.id, seed);
      run.options.marking = MarkingOf(static_cast<uint64_t>(seed));
      runs->push_back(run);
    }
  }
}

struct JobSite {
  uint64_t seed = 0;
  int site = 0;
};

// Sites of clean jobs whose objects are freed: only these can be made to leak.
std::vector<JobSite> FreedSites(int count) {
  std::vector<JobSite> sites;
  for (uint64_t seed = 4242; sites.size() < static_cast<size_t>(count); ++seed) {
    RunOptions options;
    options.steps = 3;
    options.seed = seed;
    const Emulation job = Emulate({}, {}, options);
    for (size_t i = 0; i < job.sites.size() && sites.size() < static_cast<size_t>(count); ++i) {
      // In each step, so that a rate is what it says.
      if (job.sites[i].frees >= 2) sites.push_back({seed, static_cast<int>(i)});
    }
  }
  return sites;
}

RunSpec RunOf(const Case& one, Variant variant) {
  RunSpec run;
  run.suite = "cases";
  run.id = one.id;
  run.variant = variant;
  run.half = one.half;
  run.shape = one.shape;
  run.flows = variant == Variant::kFixed ? one.fixed : one.flows;
  if (variant != Variant::kFixed) {
    run.right = one.right;
    run.reserve_grows = one.reserve_grows;
  }
  return run;
}

}  // namespace

Marking MarkingOf(uint64_t seed) {
  constexpr Marking kMarkings[] = {Marking::kMarks, Marking::kNone, Marking::kImplied, Marking::kMarks, Marking::kNone};
  return kMarkings[seed % 5];
}

std::vector<RunSpec> CaseRuns(const Selection& selection) {
  std::vector<RunSpec> runs;
  for (const Case& one : Cases()) {
    if (!IsSelected(selection, one.id)) continue;
    AddRuns(RunOf(one, one.lookalike ? Variant::kLookalike : Variant::kLeaky), selection, selection.seeds, &runs);
    if (!one.lookalike && one.flows[0].family < 0) {
      AddRuns(RunOf(one, Variant::kFixed), selection, selection.seeds, &runs);
    }
  }
  return runs;
}

std::vector<RunSpec> InjectedRuns(const Selection& selection) {
  std::vector<RunSpec> runs;
  const std::vector<JobSite> sites = FreedSites(kInjectedSites);
  for (const int rate : kInjectedRates) {
    for (size_t i = 0; i < sites.size(); ++i) {
      RunSpec run;
      run.suite = "injected";
      run.id = "1 in " + std::to_string(rate);
      run.half = i % 2 == 0 ? Half::kTuning : Half::kHeldOut;
      run.flows = {Flow::Kept(Role::kTemporary).Every(rate).Site(sites[i].site)};
      for (const int steps : selection.steps) {
        run.options.steps = steps;
        run.options.seed = sites[i].seed;
        run.options.marking = MarkingOf(i);
        runs.push_back(run);
      }
    }
  }
  return runs;
}

std::vector<RunSpec> CleanRuns(const Selection& selection) {
  std::vector<RunSpec> runs;
  for (const bool training : {true, false}) {
    RunSpec run;
    run.suite = "clean";
    run.id = training ? "clean training" : "clean service";
    run.variant = Variant::kClean;
    run.shape.training = training;
    AddRuns(run, selection, 4 * selection.seeds, &runs);
  }
  return runs;
}

std::vector<RunSpec> PairRuns(const Selection& selection) {
  const auto find = [](const std::string& id) {
    return *std::find_if(Cases().begin(), Cases().end(), [&](const Case& one) { return one.id == id; });
  };
  std::vector<RunSpec> runs;
  constexpr const char* kPairs[][2] = {{"C2", "C4"},  {"C12", "C22"}, {"C20", "C32"}, {"C5", "C8"},
                                       {"C7", "C30"}, {"C13", "C17"}, {"C41", "C6"},  {"C1", "C23"}};
  for (const auto& pair : kPairs) {
    const Case first = find(pair[0]), second = find(pair[1]);
    RunSpec run = RunOf(first, Variant::kLeaky);
    run.suite = "two leaks";
    run.id = first.id + "+" + second.id;
    run.right.clear();
    run.flows.insert(run.flows.end(), second.flows.begin(), second.flows.end());
    AddRuns(run, selection, selection.seeds, &runs);
  }
  const Case leak = find("C12");
  for (const Case& one : Cases()) {
    if (!one.lookalike || one.flows.empty()) continue;
    RunSpec run = RunOf(one, Variant::kLeaky);
    run.suite = "beside a lookalike";
    run.id = one.id + "+" + leak.id;
    run.right.clear();
    run.flows.insert(run.flows.end(), leak.flows.begin(), leak.flows.end());
    AddRuns(run, selection, selection.seeds, &runs);
  }
  return runs;
}

void ForEach(size_t count, int threads, const std::function<void(size_t)>& work,
             const std::function<void(size_t)>& progress) {
  std::atomic<size_t> next{0};
  std::mutex mutex;
  size_t done = 0;
  const auto loop = [&] {
    for (size_t i = next++; i < count; i = next++) {
      work(i);
      const std::lock_guard<std::mutex> lock(mutex);
      ++done;
      if (progress) progress(done);
    }
  };
  std::vector<std::thread> others;
  for (int i = 1; i < threads; ++i) others.emplace_back(loop);
  loop();
  for (std::thread& other : others) other.join();
}

std::vector<RunScore> RunAll(const std::vector<RunSpec>& runs, int threads, const std::function<void(size_t)>& progress,
                             const AnalyzeOptions& options) {
  std::vector<RunScore> scores(runs.size());
  ForEach(
      runs.size(), threads, [&](size_t i) { scores[i] = Score(runs[i], options); }, progress);
  return scores;
}

}  // namespace vramtrack::corpus
