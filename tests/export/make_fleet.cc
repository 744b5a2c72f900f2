// SPDX-License-Identifier: Apache-2.0
//
// make_fleet FOLDER: traces of four jobs over fourteen nights, in FOLDER/DATE/JOB/RANK.vtrace. What is wrong with them
// is what the queries of docs/fleet-queries.md find:
// - from the eighth night on llm keeps something in each step at metrics.py:21, and rl does so in the last two nights;
// - rl keeps more at rollout.py:77 from its 24th step on, every night, and in the last night it runs out of memory;
// - vision needs more for a step every night from the tenth on;
// - eval needs 1 GiB more on one of the hosts that it comes to.
#include <sys/stat.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "proto/frame.h"
#include "proto/testing/trace_builder.h"

namespace vramtrack {
namespace {

constexpr uint64_t kMiB = 1 << 20, kGiB = 1 << 30;
constexpr uint64_t kSecond = 1000000000, kNight = 86400 * kSecond;
constexpr uint64_t kFirstNight = 1793570400 * kSecond;  // 2026-11-01, ten at night
constexpr uint32_t kNights = 14;
constexpr uint64_t kSteps = 64;

// Lines of the jobs' scripts that allocate: each is a function of its own.
struct Line {
  const char* function;
  const char* file;
  uint32_t line;
};
enum Place : uint32_t { kWeights, kActivations, kMetrics, kRollout, kTrain, kPlaces };
constexpr Line kLines[kPlaces] = {{"build_model", "/jobs/train.py", 8},
                                  {"forward", "/jobs/train.py", 40},
                                  {"Metrics.update", "/jobs/metrics.py", 21},
                                  {"Rollout.append", "/jobs/rollout.py", 77},
                                  {"main", "/jobs/train.py", 60}};

struct Job {
  std::string name;
  uint32_t ranks;
  std::vector<std::string> hosts;  // of the ranks in turn
  uint64_t step_ns;
  uint64_t device_bytes, weights, activations;
  uint64_t metrics_leak = 0, rollout_leak = 0;  // bytes a step
  uint64_t rollout_from = 24;                   // step
  bool runs_out = false;
};

std::vector<Job> JobsOf(uint32_t night) {
  std::vector<Job> jobs;
  jobs.push_back({"llm", 4, {"node01", "node01", "node02", "node02"}, 30 * kSecond, 80 * kGiB, 20 * kGiB, 30 * kGiB});
  if (night >= 7) jobs.back().metrics_leak = 6 * kMiB;
  jobs.push_back({"vision", 2, {"node03"}, 10 * kSecond, 40 * kGiB, 4 * kGiB, 10 * kGiB});
  if (night >= 9) jobs.back().activations += (night - 8) * 320 * kMiB;
  jobs.push_back({"eval",
                  1,
                  {night % 3 == 2   ? "node06"
                   : night % 3 == 1 ? "node05"
                                    : "node04"},
                  5 * kSecond,
                  40 * kGiB,
                  4 * kGiB,
                  6 * kGiB});
  if (night % 3 == 2) jobs.back().activations += kGiB;
  jobs.push_back({"rl", 2, {"node07"}, 20 * kSecond, 24 * kGiB, 3 * kGiB, 5 * kGiB});
  jobs.back().rollout_leak = 64 * kMiB;
  if (night >= 12) jobs.back().metrics_leak = 6 * kMiB;
  jobs.back().runs_out = night == kNights - 1;
  return jobs;
}

void Define(const Job& job, uint32_t rank, uint32_t pid, TraceBuilder* trace) {
  trace->DefineProcess(0, pid, {"python", job.name + ".py"}, static_cast<int>(rank), {},
                       job.hosts[rank % job.hosts.size()]);
  trace->DefineDevice(0, 0, "Simulated GPU", job.device_bytes);
  trace->DefineModule(0, 1, "/env/torch/lib/libtorch_cuda.so", 0x400000, 0x400000, 0x500000);
  for (uint32_t place = 0; place < kPlaces; ++place) {
    const Line& line = kLines[place];
    const std::string one_line = {100, 0};  // of 3.10's format: all instructions are of the first line
    trace->DefineCode(0, place + 1, line.function, line.file, line.line, schema::LINES_LINETABLE, one_line);
  }
  for (uint32_t place = 0; place < kTrain; ++place) {
    trace->DefineStack(0, 100 + place, {0x400100 + place * 16, 0x400900});
    trace->DefinePythonStack(0, 200 + place, {{place + 1, 0}, {kTrain + 1, 0}});
    trace->DefineJoinedStack(0, 1 + place, 100 + place, 200 + place);
  }
}

std::string TraceOf(const Job& job, uint32_t night, uint32_t rank, uint32_t pid) {
  constexpr schema::Kind kKind = schema::DEVICE;
  TraceBuilder trace;
  Define(job, rank, pid, &trace);
  uint64_t now = 1000, address = 0x7f0000000000;
  const auto allocate = [&](Place place, uint64_t bytes) {
    address += 64 * kGiB;
    return trace.Allocate(0, ++now, kKind, 0, 1 + place, address, bytes);
  };
  allocate(kWeights, job.weights);
  for (uint64_t step = 0; step < kSteps; ++step) {
    const AllocationId activations = allocate(kActivations, job.activations);
    if (job.metrics_leak > 0) allocate(kMetrics, job.metrics_leak);
    if (job.rollout_leak > 0 && step >= job.rollout_from) allocate(kRollout, job.rollout_leak);
    trace.Free(0, ++now, kKind, 0, activations);
    now = (step + 1) * job.step_ns;
    trace.Step(0, now, step);
  }
  if (job.runs_out) trace.Event(0, ++now, schema::FAIL, kKind, 0, 1 + kActivations, {2, 20 * kGiB});
  std::string file = trace.Finish();
  const uint64_t start = kFirstNight + night * kNight;
  std::memcpy(&file[kHeaderCountersOffset + sizeof start * schema::COUNTER_CLOCK_START_REALTIME_NS], &start,
              sizeof start);
  return file;
}

bool Write(const std::string& folder) {
  uint32_t pid = 1000;
  for (uint32_t night = 0; night < kNights; ++night) {
    char date[16];
    snprintf(date, sizeof date, "2026-11-%02u", night + 1);
    mkdir((folder + "/" + date).c_str(), 0777);
    for (const Job& job : JobsOf(night)) {
      const std::string of_job = folder + "/" + date + "/" + job.name;
      mkdir(of_job.c_str(), 0777);
      for (uint32_t rank = 0; rank < job.ranks; ++rank) {
        std::ofstream file(of_job + "/" + std::to_string(rank) + ".vtrace", std::ios::binary);
        file << TraceOf(job, night, rank, ++pid);
        if (!file.flush()) return false;
      }
    }
  }
  return true;
}

}  // namespace
}  // namespace vramtrack

int main(int argc, char** argv) {
  if (argc == 2 && vramtrack::Write(argv[1])) return 0;
  fprintf(stderr, "usage: make_fleet FOLDER\n");
  return 2;
}
