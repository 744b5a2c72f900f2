// SPDX-License-Identifier: Apache-2.0
//
// Walks with known holders, for tests.
#ifndef ANALYZER_HOLDERS_TESTING_SAMPLE_WALKS_H_
#define ANALYZER_HOLDERS_TESTING_SAMPLE_WALKS_H_

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "analyzer/holders/holder_choice.h"
#include "analyzer/ingest/holder_walks.h"
#include "proto/testing/trace_builder.h"

namespace vramtrack {

// A walk whose blocks are given with their sizes.
class SampleWalk {
 public:
  explicit SampleWalk(uint32_t number = 1, uint64_t ticks = 1000)
      : builder(number, schema::HOLDERS_AT_GROWTH, ticks, ticks) {}

  uint32_t Module(const std::string& name = "__main__", const std::string& file = "/job/train.py") {
    return builder.Path(0, schema::HOLDER_MODULE, name, "module", 0, 1, file);
  }
  uint32_t Frame(const std::string& name, const std::string& file = "/job/train.py") {
    return builder.Path(0, schema::HOLDER_FRAME, name, "frame", 0, 1, file);
  }
  uint32_t Global(const std::string& name, const std::string& type, uint64_t entries = 0) {
    if (module_ == 0) module_ = Module();
    return builder.Path(module_, schema::HOLDER_ATTRIBUTE, name, type, entries);
  }
  uint32_t Local(uint32_t frame, const std::string& name, const std::string& type, uint64_t entries = 0) {
    return builder.Path(frame, schema::HOLDER_LOCAL, name, type, entries);
  }
  // A tensor's graph, with what a node saved.
  uint32_t Saved(uint32_t tensor, const std::string& node = "AddmmBackward0") {
    const uint32_t graph = builder.Path(tensor, schema::HOLDER_GRAPH, "", "AddBackward0");
    return builder.Path(graph, schema::HOLDER_SAVED, node, "Tensor");
  }
  uint64_t Block(uint32_t path, uint64_t bytes, uint32_t flags = 0) {
    const uint64_t address = (uint64_t{1} << 40) + 0x10000 * ++blocks_;
    builder.Block(address, path, flags);
    bytes_[address] = bytes;
    return address;
  }

  // Returns the walks of a trace with this one.
  HolderWalks Read() const {
    TraceBuilder trace;
    trace.HolderWalk(builder);
    const std::string file = trace.Finish();
    absl::StatusOr<std::unique_ptr<Trace>> opened = Trace::Read(file, "test");
    EXPECT_TRUE(opened.ok());
    HolderWalks walks(**opened);
    EXPECT_EQ(walks.malformed_frames(), 0u);
    EXPECT_EQ(walks.all().size(), 1u);
    return walks;
  }
  std::vector<HeldPath> Held(const HolderWalks& walks) const {
    std::map<HolderPathIndex, HeldPath> held;
    for (const WalkedBlock& block : walks.all()[0].blocks) {
      HeldPath& sum = held[block.path];
      sum.path = block.path;
      sum.bytes += bytes_.at(block.address);
      ++sum.objects;
    }
    std::vector<HeldPath> paths;
    for (const auto& [path, sum] : held) paths.push_back(sum);
    return paths;
  }
  std::vector<ChosenHolder> Choose(size_t most = 4) const {
    const HolderWalks walks = Read();
    return ChooseHolders(walks.paths(), walks.all()[0], Held(walks), most, 0.01);
  }

  HolderWalkBuilder builder;

 private:
  uint32_t module_ = 0;
  uint64_t blocks_ = 0;
  std::map<uint64_t, uint64_t> bytes_;
};

// Returns the object that holds, as text.
inline std::string HolderText(const ChosenHolder& chosen) { return PathText(chosen.steps, chosen.holder + 1); }

}  // namespace vramtrack

#endif  // ANALYZER_HOLDERS_TESTING_SAMPLE_WALKS_H_
