// SPDX-License-Identifier: Apache-2.0
#include "analyzer/ledger/testing/synthetic_trace.h"

#include <cstdio>
#include <vector>

#include "proto/testing/trace_builder.h"

namespace vramtrack {
namespace {

constexpr uint64_t kBase = uint64_t{1} << 32, kKept = uint64_t{1} << 42;
constexpr uint64_t kPlaceBytes = 4u << 20;  // of the addresses that one stack's blocks have
constexpr uint64_t kSegmentPlaces = 5;      // a segment has 20 MiB
constexpr uint64_t kSmallSegmentBytes = 2u << 20;

// A step of a training job, over and over: for each of its layers activations that live until the layer's turn comes
// back, four workspaces that are freed at once, and one small block of each step that stays.
class Job {
 public:
  Job(TraceBuilder* trace, const SyntheticTrace& wanted) : trace_(trace), wanted_(wanted) {
    trace->DefineProcess(0, 1000 + static_cast<uint32_t>(wanted.rank + 1), {"synthetic"}, wanted.rank);
    for (uint32_t id = 1; id <= kStacks; ++id) DefineStack(id);
    DefineStack(kSegmentStack);
    if (wanted.shape != SyntheticShape::kPyTorch) return;
    for (uint64_t place = 0; place <= kStacks; place += kSegmentPlaces) {
      Allocate(0, schema::DEVICE, kSegmentStack, kBase + place * kPlaceBytes, kSegmentPlaces * kPlaceBytes);
    }
  }

  // Returns the events of the trace so far.
  uint64_t Step(uint64_t number) {
    std::vector<std::pair<AllocationId, uint32_t>> activations;
    for (uint32_t layer = 0; layer < kLayers; ++layer) {
      const uint32_t thread = layer % wanted_.threads;
      for (uint32_t i = 0; i < kSitesPerLayer; ++i) {
        const uint32_t stack = 1 + layer * kSitesPerLayer + i;
        const AllocationId id = Allocate(thread, BlockKind(), stack, kBase + stack * kPlaceBytes, 4096u << (i % 8));
        if (i % 5 < 2) {
          Free(thread, id);
        } else {
          activations.push_back({id, thread});
        }
      }
    }
    for (auto at = activations.rbegin(); at != activations.rend(); ++at) {
      Free((at->second + 1) % wanted_.threads, at->first);
    }
    const uint64_t kept = kKept + 512 * number;
    if (wanted_.shape == SyntheticShape::kPyTorch && kept % kSmallSegmentBytes == 0) {
      Allocate(0, schema::DEVICE, kSegmentStack, kept, kSmallSegmentBytes);
    }
    Allocate(0, BlockKind(), 1, kept, 512);
    Mark(number);
    return events_;
  }

  // A thousand stacks that nothing else has.
  uint64_t StepOfNewSites(uint64_t number) {
    for (uint32_t i = 0; i < kStacks; ++i) {
      const auto stack = static_cast<uint32_t>(kSegmentStack + 1 + number * kStacks + i);
      const uint32_t thread = i % wanted_.threads;
      DefineStack(stack);
      const AllocationId id = Allocate(thread, BlockKind(), stack, kKept + 512 * (number * kStacks + i), 512);
      if (i % 10 != 0) Free(thread, id);
    }
    Mark(number);
    return events_;
  }

 private:
  static constexpr uint32_t kLayers = 100, kSitesPerLayer = 10, kStacks = kLayers * kSitesPerLayer;
  static constexpr uint32_t kSegmentStack = kStacks + 1;

  void DefineStack(uint32_t id) {
    std::vector<uint64_t> frames;
    for (uint64_t depth = 0; depth < 40; ++depth) {
      frames.push_back(0x400000 + 64 * uint64_t{id} * (depth < 4) + 16 * depth);
    }
    trace_->DefineStack(0, id, frames);
  }

  schema::Kind BlockKind() const {
    return wanted_.shape == SyntheticShape::kPyTorch ? schema::FRAMEWORK_BLOCK : schema::DEVICE;
  }

  AllocationId Allocate(uint32_t thread, schema::Kind kind, uint32_t stack, uint64_t address, uint64_t bytes) {
    ++events_;
    return trace_->Allocate(thread, Now(), kind, 0, stack, address, bytes);
  }

  void Free(uint32_t thread, AllocationId id) {
    ++events_;
    trace_->Free(thread, Now(), BlockKind(), 0, id);
  }

  void Mark(uint64_t number) {
    if (!wanted_.steps) return;
    ++events_;
    trace_->Step(0, Now(), number);
  }

  uint64_t Now() { return time_ += 2000 + events_ * 7919 % 1000; }

  TraceBuilder* trace_;
  const SyntheticTrace& wanted_;
  uint64_t time_ = 1000000, events_ = 0;
};

}  // namespace

bool WriteSyntheticTrace(const std::string& path, const SyntheticTrace& wanted) {
  FILE* file = std::fopen(path.c_str(), "wb");
  if (file == nullptr) return false;
  TraceBuilder trace([file](const uint8_t* frame, size_t bytes) { std::fwrite(frame, 1, bytes, file); });
  std::string header = trace.HeaderPage(false);
  std::fwrite(header.data(), 1, header.size(), file);
  Job job(&trace, wanted);
  for (uint64_t step = 0, events = 0; events < wanted.events; ++step) {
    events = wanted.shape == SyntheticShape::kSites ? job.StepOfNewSites(step) : job.Step(step);
  }
  header = trace.Finish();  // all frames went to the file
  std::rewind(file);
  std::fwrite(header.data(), 1, header.size(), file);
  const bool fine = std::ferror(file) == 0;
  return std::fclose(file) == 0 && fine;
}

}  // namespace vramtrack
