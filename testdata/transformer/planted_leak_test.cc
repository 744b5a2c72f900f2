// SPDX-License-Identifier: Apache-2.0
// The leaks that a workload prints are those that it has: checked on the host's books, to the byte.
#include <gtest/gtest.h>

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "testdata/transformer/generator.h"
#include "testdata/transformer/host_cuda.h"
#include "testdata/transformer/run_steps.h"
#include "testdata/transformer/trainer.h"

namespace transformer {
namespace {

Options SmallOptions() {
  Options options;
  options.config.layers = 2;
  options.config.dim = 8;
  options.config.heads = 2;
  options.config.vocab = 16;
  options.config.batch = 2;
  options.config.seq = 10;
  return options;
}

template <typename Worker>
std::string PrintedLeaks(const Options& options) {
  char* text = nullptr;
  size_t size = 0;
  std::FILE* const out = open_memstream(&text, &size);
  PrintPlantedLeaks<Worker>(options, out);
  std::fclose(out);
  const std::string printed(text, size);
  std::free(text);
  return printed;
}

// Live bytes after each step; the worker is gone afterwards.
template <typename Worker>
std::vector<size_t> LiveBytes(const Options& options) {
  LeakPlan plan(options.leaks, options.leak_every, options.leak_onset);
  Worker worker(options, &plan);
  std::vector<size_t> live;
  for (uint64_t step = 1; step <= options.steps; ++step) {
    worker.Step(step);
    live.push_back(ReadHostMemoryBooks().live_bytes);
  }
  return live;
}

struct PlantedLine {
  char family[64];
  char file[256];
  int line;
  double bytes;
};

void ExpectTruth(const std::string& printed, const Options& options, const std::vector<size_t>& live) {
  std::vector<PlantedLine> lines;
  double total = 0;
  size_t begin = 0;
  while (begin < printed.size()) {
    const size_t end = printed.find('\n', begin);
    const std::string line = printed.substr(begin, end - begin);
    begin = end + 1;
    PlantedLine planted;
    double bytes = 0;
    if (std::sscanf(line.c_str(), "planted total: %63s %lf bytes/step", planted.family, &bytes) == 2) {
      EXPECT_STREQ(planted.family, LeakName(options.leaks[0]));
      total += bytes;
      continue;
    }
    ASSERT_EQ(std::sscanf(line.c_str(), "planted leak: %63s %255[^:]:%d %lf bytes/step", planted.family, planted.file,
                          &planted.line, &planted.bytes),
              4)
        << line;
    lines.push_back(planted);
  }
  ASSERT_FALSE(lines.empty()) << LeakName(options.leaks[0]);

  double sum = 0;
  for (const PlantedLine& planted : lines) {
    EXPECT_STREQ(planted.family, LeakName(options.leaks[0]));
    sum += planted.bytes;
    // The line makes a buffer.
    std::ifstream file(planted.file);
    std::string text;
    for (int i = 0; i < planted.line; ++i) ASSERT_TRUE(std::getline(file, text)) << planted.file;
    EXPECT_NE(text.find("Buffer"), std::string::npos) << planted.file << ":" << planted.line << ": " << text;
  }
  EXPECT_NEAR(sum, total, 0.01 * static_cast<double>(lines.size()));

  // Between two steps that both come after the onset and lie whole periods apart.
  const size_t last = live.size() - 1;
  const size_t periods = (last - options.leak_onset) / options.leak_every;
  ASSERT_GT(periods, 2u);
  const size_t first = last - periods * options.leak_every;
  const double grown = static_cast<double>(live[last]) - static_cast<double>(live[first]);
  EXPECT_NEAR(total * static_cast<double>(last - first), grown, 0.01 * static_cast<double>(last - first));
}

template <typename Worker>
void CheckLeaks(Program program) {
  for (Leak leak : LeaksOf(program)) {
    for (const auto& [every, onset] : {std::pair<uint64_t, uint64_t>{1, 1}, {3, 5}}) {
      SCOPED_TRACE(std::string(LeakName(leak)) + " every " + std::to_string(every));
      Options options = SmallOptions();
      options.steps = 20;
      options.leaks = {leak};
      options.leak_every = every;
      options.leak_onset = onset;
      const uint64_t allocations = ReadHostMemoryBooks().allocations;
      const std::string printed = PrintedLeaks<Worker>(options);
      EXPECT_EQ(ReadHostMemoryBooks().allocations, allocations) << "a rehearsal allocates nothing";
      ExpectTruth(printed, options, LiveBytes<Worker>(options));
    }
  }
}

TEST(PlantedLeakTest, TrainingLeaksWhatItPrints) { CheckLeaks<Trainer>(Program::kTrain); }

TEST(PlantedLeakTest, GenerationLeaksWhatItPrints) { CheckLeaks<Generator>(Program::kGenerate); }

TEST(PlantedLeakTest, WithVariableLengthsThePrintedRateIsTheMean) {
  Options options = SmallOptions();
  options.steps = 40;
  options.leaks = {Leak::kLossGraph};
  options.controls = {Control::kVariableLength};
  double printed = 0;
  const std::string text = PrintedLeaks<Trainer>(options);
  ASSERT_EQ(std::sscanf(text.c_str() + text.find("planted total"), "planted total: loss-graph %lf", &printed), 1)
      << text;

  Options clean = options;
  clean.leaks.clear();
  // Both runs are alike but for the leak.
  const size_t leaked = LiveBytes<Trainer>(options).back() - LiveBytes<Trainer>(clean).back();
  EXPECT_NEAR(printed * 40, static_cast<double>(leaked), 1.0);
}

TEST(PlantedLeakTest, WithoutALeakNothingIsPrinted) { EXPECT_EQ(PrintedLeaks<Trainer>(SmallOptions()), ""); }

TEST(PlantedLeakTest, ALeakThatBeginsAfterTheLastStepIsNotPrinted) {
  Options options = SmallOptions();
  options.leaks = {Leak::kLossGraph};
  options.leak_onset = options.steps + 1;
  EXPECT_EQ(PrintedLeaks<Trainer>(options), "");
}

TEST(PlantedLeakTest, TwoFamiliesDoNotCountTheSameBufferTwice) {
  Options options = SmallOptions();
  options.leaks = {Leak::kLossGraph};
  const std::string graph_alone = PrintedLeaks<Trainer>(options);
  options.leaks = {Leak::kLossGraph, Leak::kAttentionCache};
  const std::string both = PrintedLeaks<Trainer>(options);
  // The attention weights move from one list to the other.
  EXPECT_EQ(std::count(both.begin(), both.end(), '\n'), std::count(graph_alone.begin(), graph_alone.end(), '\n') + 1);
}

template <typename Worker>
void CheckControls(Program program) {
  for (Control control : ControlsOf(program)) {
    SCOPED_TRACE(ControlName(control));
    Options options = SmallOptions();
    options.steps = 240;
    options.controls = {control};
    EXPECT_EQ(PrintedLeaks<Worker>(options), "");
    const std::vector<size_t> live = LiveBytes<Worker>(options);
    // The second half has no higher peak than the first.
    const auto half = live.begin() + static_cast<long>(live.size() / 2);
    const size_t early = *std::max_element(live.begin(), half);
    const size_t late = *std::max_element(half, live.end());
    if (control == Control::kFragmentation) {
      // Random: the peaks of two halves are never equal.
      EXPECT_LT(late, early * 5 / 4);
      EXPECT_GT(*std::max_element(live.begin(), live.end()), *std::min_element(half, live.end())) << "never varies";
    } else {
      EXPECT_LE(late, early);
    }
  }
}

TEST(ControlTest, TrainingControlsReachAPlateau) { CheckControls<Trainer>(Program::kTrain); }

TEST(ControlTest, GenerationControlsReachAPlateau) { CheckControls<Generator>(Program::kGenerate); }

TEST(ControlTest, LazyOptimizerAllocatesItsStateInTheFirstStep) {
  Options options = SmallOptions();
  LeakPlan plan({}, 1, 1);
  const auto growth_in_first_step = [&] {
    Trainer trainer(options, &plan);
    const size_t before = ReadHostMemoryBooks().live_bytes;
    trainer.Step(1);
    return ReadHostMemoryBooks().live_bytes - before;
  };
  const size_t eager = growth_in_first_step();
  options.controls = {Control::kLazyOptimizer};
  const size_t lazy = growth_in_first_step();
  size_t parameters = 0;
  const ParameterLayout layout(options.config);
  for (size_t i = 0; i < layout.size(); ++i) parameters += layout.count(i);
  EXPECT_EQ(lazy - eager, 2 * sizeof(float) * parameters);
}

TEST(TeardownTest, FreesEverythingButALostWorkspace) {
  const size_t before = ReadHostMemoryBooks().live_buffers;
  Options options = SmallOptions();
  options.steps = 5;
  options.leaks = LeaksOf(Program::kTrain);
  options.leaks.erase(std::find(options.leaks.begin(), options.leaks.end(), Leak::kWorkspace));
  LiveBytes<Trainer>(options);
  EXPECT_EQ(ReadHostMemoryBooks().live_buffers, before);
}

}  // namespace
}  // namespace transformer
