// SPDX-License-Identifier: Apache-2.0
//
// make_bad_trace NAME FILE: a trace as a bad day leaves it. Without NAME: the names, one a line.
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "proto/frame.h"
#include "proto/frame_scanner.h"
#include "proto/testing/trace_builder.h"

namespace vramtrack {
namespace {

constexpr uint64_t kMiB = 1 << 20, kGiB = 1 << 30;
constexpr uint64_t kStepNs = 10000000, kDayNs = 86400ull * 1000000000;

enum Stack : uint32_t { kActivations = 1, kWorkspace, kWeights, kKept, kMark };

void Define(TraceBuilder* trace) {
  trace->DefineProcess(0, 4711, {"./job"});
  trace->DefineThread(0, 4711, "job");
  trace->DefineDevice(0, 0, "Simulated GPU", 16 * kGiB);
  trace->DefineModule(0, 1, "/opt/gone/job", 0x400000, 0x400000, 0x500000);
  for (const uint32_t stack : {kActivations, kWorkspace, kWeights, kKept, kMark}) {
    trace->DefineStack(0, stack, {0x400000 + stack * 0x100u, 0x410000});
  }
}

struct Job {
  uint64_t steps = 200;
  uint64_t kept_bytes = 0;  // in every step
  bool marks = true;
  uint64_t steps_per_block = 2;  // 0: one block
  // Of a step: how often it allocates what it frees, and when it begins.
  std::function<uint64_t(uint64_t)> pairs = [](uint64_t) { return 3; };
  std::function<uint64_t(uint64_t)> start = [](uint64_t step) { return (step + 1) * kStepNs; };
  std::function<uint64_t(uint64_t)> number = [](uint64_t step) { return step; };
};

void Run(TraceBuilder* trace, const Job& job) {
  uint64_t address = 0x7f0000000000;
  const auto place = [&address] { return address += 256 * kMiB; };
  trace->Allocate(0, 1000, schema::DEVICE, 0, kWeights, place(), 300 * kMiB);
  for (uint64_t step = 0; step < job.steps; ++step) {
    uint64_t now = job.start(step);
    // One that lives until the next step would be freed in another block now and then.
    const AllocationId workspace = trace->Allocate(0, ++now, schema::DEVICE, 0, kWorkspace, place(), kMiB);
    for (uint64_t pair = 0; pair < job.pairs(step); ++pair) {
      const AllocationId one = trace->Allocate(0, ++now, schema::DEVICE, 0, kActivations, place(), 8 * kMiB);
      trace->Free(0, ++now, schema::DEVICE, 0, one);
    }
    if (job.kept_bytes > 0) trace->Allocate(0, ++now, schema::DEVICE, 0, kKept, place(), job.kept_bytes);
    if (job.steps_per_block > 0 && step % job.steps_per_block == job.steps_per_block / 2) trace->Seal(0);
    trace->Free(0, ++now, schema::DEVICE, 0, workspace);
    if (job.marks) trace->Event(0, ++now, schema::STEP, schema::KIND_NONE, 0, kMark, {job.number(step), 0});
  }
}

std::string Traced(const Job& job) {
  TraceBuilder trace;
  Define(&trace);
  Run(&trace, job);
  return trace.Finish();
}

Job Leaky() {
  Job job;
  job.kept_bytes = 4 * kMiB;
  return job;
}

// With blocks that `lose` picks by their place spoiled.
std::string Without(std::string file, const std::function<bool(size_t, size_t)>& lose) {
  TraceLayout layout;
  ScanTrace(file, &layout);
  for (size_t block = 0; block < layout.blocks.size(); ++block) {
    if (lose(block, layout.blocks.size())) file[layout.blocks[block].offset + kSealedPrefixBytes + 3] ^= 1;
  }
  return file;
}

std::string WithVersion(uint32_t version) {
  std::string file = Traced(Job());
  std::memcpy(&file[kHeaderVersionOffset], &version, sizeof version);
  return file;
}

std::string Late(uint64_t unknown, const Job& job) {
  TraceBuilder trace;
  Define(&trace);
  for (uint64_t i = 0; i < unknown; ++i) {
    trace.Event(0, 100 + i, schema::FREE_UNKNOWN, schema::DEVICE, 0, 0, {0x7e0000000000 + i * kMiB});
  }
  Run(&trace, job);
  return trace.Finish();
}

std::string Small(const std::function<void(TraceBuilder*)>& record) {
  TraceBuilder trace;
  Define(&trace);
  record(&trace);
  return trace.Finish();
}

Job Timed(std::function<uint64_t(uint64_t)> start) {
  Job job = Leaky();
  job.start = std::move(start);
  return job;
}

const std::map<std::string, std::function<std::string()>>& Traces() {
  static const auto& traces = *new std::map<std::string, std::function<std::string()>>{
      {"clean", [] { return Traced(Job()); }},
      {"leaky", [] { return Traced(Leaky()); }},
      // Blocks that are lost hold frees: their allocations must not look like a leak.
      {"lost_tenth", [] { return Without(Traced(Job()), [](size_t block, size_t) { return block % 10 == 3; }); }},
      {"lost_third", [] { return Without(Traced(Job()), [](size_t block, size_t) { return block % 3 == 1; }); }},
      {"lost_half", [] { return Without(Traced(Job()), [](size_t block, size_t) { return block % 2 == 1; }); }},
      {"lost_middle",
       [] {
         return Without(Traced(Job()), [](size_t block, size_t all) { return block > all / 3 && block < all / 2; });
       }},
      {"lost_beginning", [] { return Without(Traced(Job()), [](size_t block, size_t) { return block < 5; }); }},
      {"lost_end", [] { return Without(Traced(Job()), [](size_t block, size_t all) { return block > all / 2; }); }},
      {"lost_all", [] { return Without(Traced(Job()), [](size_t, size_t) { return true; }); }},
      {"lost_tenth_leaky",
       [] { return Without(Traced(Leaky()), [](size_t block, size_t) { return block % 10 == 3; }); }},
      {"cut_leaky",
       [] {
         const std::string file = Traced(Leaky());
         return file.substr(0, file.size() * 3 / 4);
       }},
      // Tracing began late.
      {"late", [] { return Late(50, Job()); }},
      {"late_leaky", [] { return Late(50, Leaky()); }},
      {"only_unknown_frees",
       [] {
         Job none;
         none.steps = 0;
         return Late(500, none);
       }},
      // Clocks.
      {"clock_forwards",
       [] {
         return Traced(Timed([](uint64_t step) { return (step + 1) * kStepNs + (step > 90 ? 40 * kDayNs : 0); }));
       }},
      {"clock_backwards",
       [] {
         return Traced(Timed([](uint64_t step) { return (step + 1) * kStepNs + (step < 91 ? 3600000000000 : 0); }));
       }},
      {"clock_stands", [] { return Traced(Timed([](uint64_t) { return uint64_t{5000}; })); }},
      {"clock_of_centuries",
       [] {
         return Traced(Timed([](uint64_t step) { return (step + 1) * kStepNs + (step > 90 ? uint64_t{1} << 62 : 0); }));
       }},
      // Steps.
      {"unequal_steps",
       [] {
         Job job = Leaky();
         job.pairs = [](uint64_t step) { return step % 7 == 0 ? 400 : 1 + step % 3; };
         return Traced(job);
       }},
      {"one_step",
       [] {
         Job job = Leaky();
         job.steps = 1;
         return Traced(job);
       }},
      {"no_steps",
       [] {
         Job job = Leaky();
         job.steps = 0;
         return Traced(job);
       }},
      {"no_marks_one_step",
       [] {
         Job job = Leaky();
         job.steps = 1;
         job.marks = false;
         return Traced(job);
       }},
      {"step_numbers_repeat",
       [] {
         Job job = Leaky();
         job.number = [](uint64_t) { return uint64_t{7}; };
         return Traced(job);
       }},
      {"step_numbers_fall",
       [] {
         Job job = Leaky();
         job.number = [](uint64_t step) { return 1000000 - step; };
         return Traced(job);
       }},
      {"step_numbers_huge",
       [] {
         Job job = Leaky();
         job.number = [](uint64_t step) { return UINT64_MAX - 300 + step; };
         return Traced(job);
       }},
      {"only_marks",
       [] {
         return Small([](TraceBuilder* trace) {
           for (uint64_t step = 0; step < 100; ++step) trace->Step(0, step * kStepNs + 1, step);
         });
       }},
      // Next to nothing.
      {"nothing", [] { return Small([](TraceBuilder*) {}); }},
      {"one_allocation",
       [] {
         return Small([](TraceBuilder* trace) { trace->Allocate(0, 5, schema::DEVICE, 0, kKept, 0x1000, kMiB); });
       }},
      {"one_pair",
       [] {
         return Small([](TraceBuilder* trace) {
           const AllocationId one = trace->Allocate(0, 5, schema::DEVICE, 0, kKept, 0x1000, kMiB);
           trace->Free(0, 6, schema::DEVICE, 0, one);
         });
       }},
      {"zero_bytes",
       [] {
         return Small([](TraceBuilder* trace) {
           for (uint64_t i = 0; i < 100; ++i) {
             trace->Allocate(0, 5 + i, schema::DEVICE, 0, kKept, 0x1000, 0);
             trace->Step(0, 5 + i, i);
           }
         });
       }},
      // What makes no sense.
      {"huge_sizes",
       [] {
         return Small([](TraceBuilder* trace) {
           for (uint64_t i = 0; i < 60; ++i) {
             trace->Allocate(0, 5 + i, schema::DEVICE, 0, kKept, i << 40, uint64_t{1} << 63);
             trace->Step(0, 5 + i, i);
           }
         });
       }},
      {"more_than_the_device",
       [] {
         Job job = Leaky();
         job.kept_bytes = kGiB;
         return Traced(job);
       }},
      {"odd_devices",
       [] {
         return Small([](TraceBuilder* trace) {
           for (const uint32_t device : {63u, 64u, 1000000u, UINT32_MAX - 2})
             trace->Allocate(0, 5, schema::DEVICE, device, kKept, 0x1000, kMiB);
         });
       }},
      {"unknown_stacks",
       [] {
         return Small([](TraceBuilder* trace) {
           for (uint32_t step = 0; step < 100; ++step) {
             trace->Allocate(0, step * kStepNs + 5, schema::DEVICE, 0, 77, 0x1000, kMiB);
             trace->Step(0, step * kStepNs + 6, step);
           }
         });
       }},
      {"freed_twice",
       [] {
         return Small([](TraceBuilder* trace) {
           for (uint64_t step = 0; step < 100; ++step) {
             const AllocationId one =
                 trace->Allocate(0, step * kStepNs + 5, schema::DEVICE, 0, kActivations, 0x1000, kMiB);
             trace->Free(0, step * kStepNs + 6, schema::DEVICE, 0, one);
             trace->Free(0, step * kStepNs + 7, schema::DEVICE, 0, one);
             trace->Step(0, step * kStepNs + 8, step);
           }
         });
       }},
      {"twice_the_same_blocks",
       [] {
         const std::string file = Traced(Job());
         return file + file.substr(kHeaderBytes);
       }},
      // Other versions, other files.
      {"version_0", [] { return WithVersion(0); }},
      {"version_next", [] { return WithVersion(kFormatVersion + 1); }},
      {"version_4_billion", [] { return WithVersion(UINT32_MAX); }},
      {"foreign_text", [] { return std::string(8192, 'x') + "\n"; }},
      {"foreign_zeros", [] { return std::string(1 << 20, '\0'); }},
      {"empty", [] { return std::string(); }},
      {"header_only", [] { return Traced(Job()).substr(0, kHeaderBytes); }},
      {"half_a_header", [] { return Traced(Job()).substr(0, kHeaderBytes / 2); }},
  };
  return traces;
}

}  // namespace
}  // namespace vramtrack

int main(int argc, char** argv) {
  const auto& traces = vramtrack::Traces();
  if (argc == 1) {
    for (const auto& [name, make] : traces) std::printf("%s\n", name.c_str());
    return 0;
  }
  const auto found = argc == 3 ? traces.find(argv[1]) : traces.end();
  if (found == traces.end()) {
    std::fprintf(stderr, "usage: make_bad_trace [NAME FILE]\n");
    return 2;
  }
  std::ofstream file(argv[2], std::ios::binary);
  file << found->second();
  return file.flush() ? 0 : 1;
}
