// SPDX-License-Identifier: Apache-2.0
//
// make_torch_trace segments|expandable FILE: the trace of a process that holds memory as PyTorch's allocator does, for
// tools/test-exports. In each of 30 steps forward() asks for activations and lets them go, metrics() keeps 1 MiB; a
// library has 8 MiB of its own; in the end forward() asks for more than there is.
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "proto/testing/trace_builder.h"

namespace vramtrack {
namespace {

constexpr uint64_t kMiB = 1 << 20, kPiece = 20 * kMiB, kDeviceBytes = 1024 * kMiB;
constexpr uint64_t kSteps = 30;
constexpr uint64_t kRange = 0x7f0000000000, kLibrary = 0x7e0000000000;

enum Place : uint32_t { kForward, kMetrics, kWorkspace, kMain, kPlaces };
constexpr std::pair<const char*, uint32_t> kLines[kPlaces] = {
    {"forward", 40}, {"metrics", 21}, {"workspace", 7}, {"main", 60}};

class Job {
 public:
  explicit Job(bool expandable) : expandable_(expandable) {
    const std::string settings = expandable ? "expandable_segments:True" : "";
    trace_.DefineProcess(0, 4711, {"python", "train.py"}, -1, {{"PYTORCH_CUDA_ALLOC_CONF", settings}});
    trace_.DefineDevice(0, 0, "Simulated GPU", kDeviceBytes);
    trace_.DefineModule(0, 1, "/env/torch/lib/libtorch_cuda.so", 0x400000, 0x400000, 0x500000);
    for (uint32_t place = 0; place < kPlaces; ++place) {
      trace_.DefineCode(0, place + 1, kLines[place].first, "/job/train.py", kLines[place].second,
                        schema::LINES_LINETABLE, {100, 0});
    }
    for (uint32_t place = 0; place < kMain; ++place) {
      trace_.DefineStack(0, 100 + place, {0x400100 + place * 16, 0x400900});
      trace_.DefinePythonStack(0, 200 + place, {{place + 1, 0}, {kMain + 1, 0}});
      trace_.DefineJoinedStack(0, 1 + place, 100 + place, 200 + place);
    }
  }

  std::string Run() {
    if (expandable_) Allocate(schema::ADDRESS_RANGE, kForward, kRange, kDeviceBytes);
    Allocate(schema::DEVICE, kWorkspace, kLibrary, 8 * kMiB);
    for (uint64_t step = 0; step < kSteps; ++step) {
      const AllocationId large = Block(kForward, 64 * kPiece, 12 * kMiB);
      const AllocationId small = Block(kForward, 64 * kPiece + 12 * kMiB, 3 * kMiB);
      Block(kMetrics, step * kMiB, kMiB);
      trace_.Free(0, ++now_, schema::FRAMEWORK_BLOCK, 0, small);
      trace_.Free(0, ++now_, schema::FRAMEWORK_BLOCK, 0, large);
      trace_.Step(0, now_ = (step + 1) * 1000000, step);
    }
    // The driver refuses it, twice; then the allocator gives up.
    const auto driver = expandable_ ? schema::PHYSICAL : schema::DEVICE;
    for (const schema::Kind kind : {driver, driver, schema::FRAMEWORK_BLOCK}) {
      trace_.Event(0, ++now_, schema::FAIL, kind, 0, 1 + kForward, {2, 2048 * kMiB});
    }
    return trace_.Finish();
  }

 private:
  AllocationId Allocate(schema::Kind kind, Place place, uint64_t address, uint64_t bytes) {
    return trace_.Allocate(0, ++now_, kind, 0, 1 + place, address, bytes);
  }

  // At that place of the range; its memory is asked for first where there is none.
  AllocationId Block(Place place, uint64_t at, uint64_t bytes) {
    const uint64_t piece = at / kPiece;
    if (pieces_.size() <= piece) pieces_.resize(piece + 1);
    if (!pieces_[piece]) {
      Allocate(expandable_ ? schema::MAPPING : schema::DEVICE, place, kRange + piece * kPiece, kPiece);
      pieces_[piece] = true;
    }
    return Allocate(schema::FRAMEWORK_BLOCK, place, kRange + at, bytes);
  }

  const bool expandable_;
  TraceBuilder trace_;
  std::vector<bool> pieces_;
  uint64_t now_ = 0;
};

}  // namespace
}  // namespace vramtrack

int main(int argc, char** argv) {
  const std::string kind = argc == 3 ? argv[1] : "";
  if (kind != "segments" && kind != "expandable") {
    fprintf(stderr, "usage: make_torch_trace segments|expandable FILE\n");
    return 2;
  }
  std::ofstream file(argv[2], std::ios::binary);
  file << vramtrack::Job(kind == "expandable").Run();
  return file.flush() ? 0 : 1;
}
