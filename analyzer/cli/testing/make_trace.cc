// SPDX-License-Identifier: Apache-2.0
//
// Writes a small trace for tests of the command line. Its stacks lead into this program, so that they can be
// symbolized.
#include <link.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "proto/testing/trace_builder.h"

namespace {

constexpr uint64_t kMiB = 1 << 20;
constexpr uint64_t kStepNs = 10000000;

// What the stacks name. The bodies differ, or the linker could make them one.
__attribute__((noinline)) int KeepAttention(int x) { return x + 1; }
__attribute__((noinline)) int MakeActivations(int x) { return x * 3; }
__attribute__((noinline)) int LoadWeights(int x) { return x - 7; }
__attribute__((noinline)) int TrainStep(int x) { return x ^ 5; }

enum Stack : uint32_t { kLeaking = 1, kFreed = 2, kOnce = 3, kStepMark = 4 };

uint64_t InFunction(int (*function)(int)) { return reinterpret_cast<uint64_t>(function) + 1; }

struct OwnCode {
  uint64_t load_bias = 0, start = UINT64_MAX, end = 0;
};

int FindOwnCode(dl_phdr_info* info, size_t, void* to) {
  auto* code = static_cast<OwnCode*>(to);
  code->load_bias = info->dlpi_addr;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto& segment = info->dlpi_phdr[i];
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) == 0) continue;
    code->start = info->dlpi_addr + segment.p_vaddr;
    code->end = code->start + segment.p_memsz;
  }
  return 1;  // the program itself comes first
}

void Define(uint32_t pid, int rank, vramtrack::TraceBuilder* trace) {
  OwnCode code;
  dl_iterate_phdr(FindOwnCode, &code);
  char path[4096];
  ssize_t bytes = readlink("/proc/self/exe", path, sizeof path);
  trace->DefineProcess(0, pid, {"./train", "--layers", "12"}, rank);
  trace->DefineThread(0, pid, "train");
  trace->DefineDevice(0, 0, "Simulated GPU", 16384 * kMiB);
  trace->DefineModule(0, 1, std::string(path, bytes > 0 ? bytes : 0), code.load_bias, code.start, code.end);
  trace->DefineModule(0, 2, "/opt/gone/libgone.so", 0x500000, 0x500000, 0x600000);
  trace->DefineStack(0, kLeaking, {InFunction(KeepAttention), InFunction(TrainStep)});
  trace->DefineStack(0, kFreed, {InFunction(MakeActivations), InFunction(TrainStep)});
  trace->DefineStack(0, kOnce, {InFunction(LoadWeights), 0x512345});
  trace->DefineStack(0, kStepMark, {InFunction(TrainStep)});
}

// `steps` steps that leak `leak_bytes` each.
void Train(vramtrack::TraceBuilder* trace, uint64_t steps, uint64_t leak_bytes) {
  using vramtrack::schema::DEVICE;
  uint64_t now = 1000, address = 0x7f0000000000;
  trace->Allocate(0, now, DEVICE, 0, kOnce, address, 360 * kMiB);
  for (uint64_t step = 0; step < steps; ++step) {
    now += kStepNs;
    address += 512 * kMiB;
    vramtrack::AllocationId activations = trace->Allocate(0, now, DEVICE, 0, kFreed, address, 96 * kMiB);
    if (leak_bytes > 0) trace->Allocate(0, now + 10, DEVICE, 0, kLeaking, address + 128 * kMiB, leak_bytes);
    trace->Free(0, now + 20, DEVICE, 0, activations);
    trace->Event(0, now + 30, vramtrack::schema::STEP, vramtrack::schema::KIND_NONE, 0, kStepMark, {step, 0});
  }
}

// A Python job that keeps a tensor with its graph in a list, with walks that see it.
void TrainInPython(vramtrack::TraceBuilder* trace) {
  using vramtrack::schema::FRAMEWORK_BLOCK;
  namespace schema = vramtrack::schema;
  enum : uint32_t { kPythonKept = 10, kPythonFreed, kKept, kDropped, kSegment };
  // One instruction a line.
  const std::string lines("\x02\x01\x02\x01\x02\x01\x02\x01", 8);
  trace->DefineCode(0, 1, "train", "/job/train.py", 10, schema::LINES_LINETABLE, lines);
  trace->DefinePythonStack(0, kPythonKept, {{1, 2}});
  trace->DefinePythonStack(0, kPythonFreed, {{1, 4}});
  trace->DefineJoinedStack(0, kKept, kLeaking, kPythonKept);
  trace->DefineJoinedStack(0, kDropped, kFreed, kPythonFreed);
  uint64_t now = 1000;
  const uint64_t base = 0x7f0000000000;
  trace->Allocate(0, now, schema::DEVICE, 0, kOnce, base, 4096 * kMiB);
  trace->Allocate(0, now, FRAMEWORK_BLOCK, 0, kOnce, base, 360 * kMiB);
  std::vector<uint64_t> kept;
  for (uint64_t step = 0; step < 60; ++step) {
    now += kStepNs;
    const auto freed = trace->Allocate(0, now, FRAMEWORK_BLOCK, 0, kDropped, base + 512 * kMiB, 96 * kMiB);
    kept.push_back(base + 1024 * kMiB + step * 8 * kMiB);
    trace->Allocate(0, now + 10, FRAMEWORK_BLOCK, 0, kKept, kept.back(), 4 * kMiB);
    trace->Free(0, now + 20, FRAMEWORK_BLOCK, 0, freed);
    trace->Event(0, now + 30, schema::STEP, schema::KIND_NONE, 0, kStepMark, {step, 0});
    if (step != 19 && step != 59) continue;
    vramtrack::HolderWalkBuilder walk(
        step == 19 ? 1 : 2, step == 19 ? schema::HOLDERS_AT_GROWTH : schema::HOLDERS_AT_EXIT, now + 100, now + 3000000);
    walk.SetCounts(361204, kept.size() + 1);
    const uint32_t module = walk.Path(0, schema::HOLDER_MODULE, "__main__", "module", 0, 1, "/job/train.py");
    const uint32_t model = walk.Path(module, schema::HOLDER_ATTRIBUTE, "model", "GPT");
    const uint32_t layer = walk.Path(model, schema::HOLDER_MODULE_ATTRIBUTE, "wte", "Embedding");
    walk.Block(base, walk.Path(layer, schema::HOLDER_MODULE_ATTRIBUTE, "weight", "Parameter"),
               schema::HOLDER_IS_PARAMETER);
    const uint32_t history = walk.Path(module, schema::HOLDER_ATTRIBUTE, "history", "list", kept.size());
    const uint32_t entry = walk.Path(history, schema::HOLDER_ENTRY, "", "dict", 2, kept.size());
    const uint32_t loss = walk.Path(entry, schema::HOLDER_KEY, "loss", "Tensor", 0, kept.size());
    const uint32_t graph = walk.Path(loss, schema::HOLDER_GRAPH, "", "MseLossBackward0", 0, kept.size());
    const uint32_t saved = walk.Path(graph, schema::HOLDER_SAVED, "AddmmBackward0", "Tensor", 0, kept.size());
    for (const uint64_t address : kept) walk.Block(address, saved, schema::HOLDER_IS_SAVED);
    trace->HolderWalk(walk);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3 || argc > 6) {
    fprintf(stderr,
            "usage: make_trace leak|clean|short|killed|one|nothing|holders FILE [RANK [RUN [START]]], seconds since "
            "1970\n");
    return 2;
  }
  std::string name = argv[1];
  vramtrack::TraceBuilder trace;
  // Each is of a process of its own.
  const int rank = argc > 3 ? atoi(argv[3]) : -1;
  if (argc > 4) trace.SetRun(argv[4], argc > 5 ? strtoull(argv[5], nullptr, 10) * 1000000000 : 0);
  const uint32_t pid = name == "leak" ? 4711 : 4712 + static_cast<uint32_t>(name[0] % 32);
  Define(rank < 0 ? pid : 10000 + static_cast<uint32_t>(rank), rank < 0 ? 3 : rank, &trace);
  if (name == "leak" || name == "killed") Train(&trace, 60, 4 * kMiB);
  if (name == "clean") Train(&trace, 60, 0);
  if (name == "one") Train(&trace, 0, 0);  // one event
  if (name == "holders") TrainInPython(&trace);
  if (name == "short") Train(&trace, 3, 4 * kMiB);
  std::ofstream file(argv[2], std::ios::binary);
  file << (name == "killed" ? trace.Kill() : trace.Finish());
  return file.flush() ? 0 : 1;
}
