// SPDX-License-Identifier: Apache-2.0
//
// make_ranks FOLDER RANKS [SITES [STEPS]]: the traces of a job of as many processes, rank-00000.vtrace and so on, in
// the shape of data-parallel training. Every site allocates and frees in each step; the first one keeps what it
// allocates, a little more in every seventh rank and nothing in every fifth.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "proto/testing/trace_builder.h"

namespace {

using vramtrack::schema::DEVICE;

constexpr uint64_t kMiB = 1 << 20, kStepNs = 10000000, kDeviceBytes = uint64_t{80} << 30;
constexpr uint32_t kFirstPid = 1000, kStepStack = 1;
constexpr uint64_t kDepth = 24;

std::string Rank(int rank, uint32_t sites, uint64_t steps) {
  vramtrack::TraceBuilder trace;
  trace.DefineProcess(0, kFirstPid + static_cast<uint32_t>(rank), {"python", "train.py"}, rank);
  trace.DefineThread(0, kFirstPid + static_cast<uint32_t>(rank), "train");
  trace.DefineDevice(0, 0, "Simulated GPU", kDeviceBytes);
  trace.DefineModule(0, 1, "/opt/job/libmodel.so", 0x400000, 0x400000, 0x4000000);
  trace.DefineStack(0, kStepStack, {0x400010});
  for (uint32_t site = 0; site < sites; ++site) {
    std::vector<uint64_t> frames;
    for (uint64_t depth = 0; depth < kDepth; ++depth)
      frames.push_back(0x401000 + 4096 * site * (depth < 4) + 64 * depth);
    trace.DefineStack(0, kStepStack + 1 + site, frames);
  }
  const uint64_t kept_bytes = rank % 5 == 4 ? 0 : rank % 7 == 3 ? 5 * kMiB : 4 * kMiB;
  uint64_t now = 1000 + static_cast<uint64_t>(rank), kept_at = uint64_t{1} << 42;
  for (uint64_t step = 0; step < steps; ++step) {
    std::vector<vramtrack::AllocationId> activations;
    for (uint32_t site = 0; site < sites; ++site) {
      activations.push_back(trace.Allocate(0, now += 1000, DEVICE, 0, kStepStack + 1 + site,
                                           (uint64_t{1} << 32) + site * 64 * kMiB, (1 + site % 32) * kMiB));
    }
    while (!activations.empty()) {
      trace.Free(0, now += 1000, DEVICE, 0, activations.back());
      activations.pop_back();
    }
    if (kept_bytes > 0) trace.Allocate(0, now += 1000, DEVICE, 0, kStepStack + 1, kept_at += 8 * kMiB, kept_bytes);
    trace.Event(0, now += kStepNs, vramtrack::schema::STEP, vramtrack::schema::KIND_NONE, 0, kStepStack, {step, 0});
  }
  return trace.Finish();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3 || argc > 5) {
    fprintf(stderr, "usage: make_ranks FOLDER RANKS [SITES [STEPS]]\n");
    return 2;
  }
  const auto sites = static_cast<uint32_t>(argc > 3 ? atoi(argv[3]) : 20);
  const auto steps = static_cast<uint64_t>(argc > 4 ? atoi(argv[4]) : 60);
  for (int rank = 0; rank < atoi(argv[2]); ++rank) {
    char name[32];
    snprintf(name, sizeof name, "/rank-%05d.vtrace", rank);
    std::ofstream file(argv[1] + std::string(name), std::ios::binary);
    file << Rank(rank, sites, steps);
    if (!file.flush()) {
      perror(argv[1]);
      return 1;
    }
  }
}
