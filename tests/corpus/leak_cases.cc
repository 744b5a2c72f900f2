// SPDX-License-Identifier: Apache-2.0
//
// Leaks of public issue threads by their mechanisms (docs/internals/accuracy.md).
#include <utility>

#include "tests/corpus/cases.h"

namespace vramtrack::corpus {
namespace {

const std::vector<std::string> kALeak = {"leak", "minor_leak", "accelerating_leak"};
const std::vector<std::string> kAccelerating = {"accelerating_leak", "leak"};

const std::vector<std::string> kAGrowingBuffer = {"growing_buffer"};

Flow Blocks(uint64_t low, uint64_t high) { return Flow::Blocks().Bytes(low, high); }
Flow Blocks(uint64_t bytes) { return Flow::Blocks().Bytes(bytes); }
Flow Driver(uint64_t bytes) { return Flow::Of(schema::DEVICE).Bytes(bytes); }
Flow Handles(schema::Kind kind) { return Flow::Of(kind).Bytes(0); }

JobShape Service() {
  JobShape shape;
  shape.training = false;
  return shape;
}

class Table {
 public:
  // Without `fixed` the corrected job frees the same objects in the step of their birth.
  void Add(const char* id, const char* group, const char* what, std::vector<Flow> flows, JobShape shape = {}) {
    std::vector<Flow> fixed;
    for (const Flow& flow : flows) {
      if (flow.role != Role::kNone) continue;
      fixed.push_back(flow);
      if (!flow.leaks) continue;
      fixed.back().leaks = false;
      fixed.back().life = Life::kStep;
      fixed.back().kept = 0;
    }
    AddFixed(id, group, what, std::move(flows), std::move(fixed), kALeak, shape);
  }
  void AddFixed(const char* id, const char* group, const char* what, std::vector<Flow> flows, std::vector<Flow> fixed,
                std::vector<std::string> right = kALeak, JobShape shape = {}) {
    Case one;
    one.id = id;
    one.group = group;
    one.what = what;
    one.flows = std::move(flows);
    one.fixed = std::move(fixed);
    one.right = std::move(right);
    one.shape = shape;
    cases_.push_back(std::move(one));
  }
  Case& last() { return cases_.back(); }
  Case& at(size_t index) { return cases_[index]; }
  size_t size() const { return cases_.size(); }
  std::vector<Case> Take() { return std::move(cases_); }

 private:
  std::vector<Case> cases_;
};

void AddGraphs(Table* table) {
  table->Add("C1", "graph", "the loss is summed up with its graph",
             {Flow::Kept(Role::kSaved), Flow::Kept(Role::kLoss)});
  table->Add("C2", "graph", "a recurrent state is never detached",
             {Blocks(6 * kMiB).Leak(), Blocks(256 * kKiB).Sites(2).Leak()});
  table->AddFixed("C3", "graph", "gradients that hold a graph are accumulated",
                  {Blocks(2 * kMiB).Sites(3).In(Look::kBackward).On(1).At(Place::kBackward).Leak()},
                  {Blocks(2 * kMiB).Sites(3).In(Look::kBackward).On(1).At(Place::kBackward).Lives(Life::kReplaced)});
  table->Add("C8", "graph", "a full backward hook with create_graph keeps what it is given",
             {Blocks(512 * kKiB).Sites(2).In(Look::kBackward).On(1).At(Place::kBackward).Leak()});
  table->Add("C10", "graph", "a hook stores activations", {Blocks(3 * kMiB).Sites(4).Leak()});
  table->Add("C17", "graph", "hooks of saved tensors hold recomputed activations",
             {Blocks(kMiB, 4 * kMiB).Sites(3).In(Look::kBackward).On(1).At(Place::kBackward).Leak()});
  table->Add("C15", "graph", "an aborted backward pass, now and then, leaves its activations",
             {Flow::Kept(Role::kSaved).Chance(.1)});
  table->Add("C6", "graph", "autograd.grad with create_graph within backward keeps clones",
             {Blocks(24 * kMiB).Sites(2).In(Look::kBackward).On(1).At(Place::kBackward).Leak()});
}

void AddLists(Table* table) {
  table->Add("C4", "list", "a list of scalars on the device", {Blocks(4).Leak()});
  table->AddFixed("C21", "list", "a metric that is never reset, by epoch of 20 steps",
                  {Blocks(2 * kMiB).Every(20).At(Place::kEnd).Leak()},
                  {Blocks(2 * kMiB).Every(20).At(Place::kEnd).Lives(Life::kPhase, 60)});
  table->Add("C20", "list", "key-value caches are stored with the results", {Blocks(kMiB).Sites(2).Count(6, 6).Leak()});
  table->Add("C13", "list", "seven to nine small tensors in each step", {Blocks(8).Count(7, 9).Leak()});
  table->AddFixed("C18", "list", "casts of weights are cached and the cache is never cleared",
                  {Blocks(4 * kMiB).Sites(4).Leak()}, {Blocks(4 * kMiB).Sites(4).Lives(Life::kPhase, 6)});
  table->Add("C30", "list", "blocks shared with another process that never closes them, each fifth step",
             {Blocks(48 * kMiB).Every(5).At(Place::kEnd).Leak()});
}

void AddCycles(Table* table) {
  table->Add("C5", "cycle", "a cycle through C++ that no collector sees", {Blocks(kMiB).Sites(2).Count(2, 2).Leak()});
  table->Add("C7", "cycle", "parameters and gradients in a cycle",
             {Blocks(1024).Sites(2).In(Look::kBackward).On(1).At(Place::kBackward).Leak()});
  table->AddFixed("C43", "cycle", "cycles under selective checkpointing delay frees until a collector runs",
                  {Blocks(12 * kMiB).Sites(2).Lives(Life::kCollector, 12)},
                  {Blocks(12 * kMiB).Sites(2).Lives(Life::kStep)}, {"cycle_garbage"});
  table->AddFixed("C12", "compile", "each call of a compiled frame keeps its output",
                  {Blocks(64 * kKiB).Leak(), Blocks(2 * kMiB).Once(1)}, {Blocks(64 * kKiB).Lives(Life::kStep)});
  table->AddFixed("C41", "compile", "compiled code keeps the model, one each twelfth step",
                  {Blocks(8 * kMiB).Sites(6).Every(12).At(Place::kStart).Leak()},
                  {Blocks(8 * kMiB).Sites(6).Every(12).At(Place::kStart).Lives(Life::kReplaced)});
  table->AddFixed("C44", "compile", "a hook keeps the tensors of the first step", {Blocks(16 * kMiB).Sites(6).Once(1)},
                  {Blocks(16 * kMiB).Sites(6).Once(1).Lives(Life::kStep)}, {"one_time"});
}

void AddPools(Table* table) {
  table->AddFixed("C14", "pool", "a graph pool for each shape, and ever new shapes",
                  {Blocks(3 * kMiB).Chance(.3).OwnPool().Leak()}, {Blocks(3 * kMiB).Novel(12).OwnPool()});
  table->AddFixed("C26", "pool", "a failed capture never gives its pool back",
                  {Blocks(3 * kMiB).Every(3).OwnPool().Lives(Life::kStep)},
                  {Blocks(3 * kMiB).Every(3).Lives(Life::kStep)}, {"fragmentation_growth"});
  table->last().reserve_grows = true;
  // One pool in three steps, each of 60 places now and then.
  std::vector<Flow> captures, without;
  for (int place = 0; place < 60; ++place) {
    captures.push_back(Blocks(3 * kMiB).Chance(1. / 180).OwnPool().Lives(Life::kStep));
    without.push_back(Blocks(3 * kMiB).Chance(1. / 180).Lives(Life::kStep));
  }
  table->AddFixed("C26b", "pool", "failed captures in ever other places, none of which shows it", std::move(captures),
                  std::move(without), {});
  table->last().reserve_grows = true;
}

void AddLibraries(Table* table) {
  table->Add("C22", "library", "plans are destroyed and 2 MiB stay each time",
             {Driver(2 * kMiB).Leak(), Handles(schema::FFT_PLAN).Lives(Life::kStep)});
  table->Add("C23", "library", "a workspace for each capture, each seventh step", {Driver(8519680).Every(7).Leak()});
  table->Add("C24", "library", "a workspace is made again and larger at each set-up",
             {Driver(4 * kMiB).Every(4).Growing(.2).Leak()});
  table->AddFixed("C25", "library", "a handle of cuBLAS and its memory for each thread",
                  {Handles(schema::BLAS_HANDLE).Leak(), Driver(10 * kKiB).Leak()},
                  {Handles(schema::BLAS_HANDLE).Novel(8), Driver(10 * kKiB).Novel(8)}, kALeak, Service());
  table->Add("C28", "library", "launched graphs allocate and never free",
             {Flow::Of(schema::GRAPH_MEMORY).Bytes(kMiB).Leak()}, Service());
  table->Add("C29", "library", "communicators are not destroyed, one each tenth step",
             {Handles(schema::COMMUNICATOR).Every(10).Leak(), Driver(544 * kMiB / 8).Every(10).Leak()});
}

void AddPrograms(Table* table) {
  table->Add("C31", "driver", "mappings of other processes' memory are never closed",
             {Flow::Of(schema::IPC_MAPPING).Bytes(4 * kMiB).Leak()}, Service());
  table->Add("C32", "driver", "a thread pins memory for each batch and frees none",
             {Flow::Of(schema::PINNED).Bytes(kMiB).On(2).At(Place::kStart).Leak()});
  table->Add("C35", "driver", "a missing cudaFree", {Driver(256 * kKiB).Leak()}, Service());
  table->Add("C39", "driver", "regions of exact sizes are never used again",
             {Driver(0).Bytes(kMiB, 24 * kMiB).Chance(.3).Leak()}, Service());
  table->Add("C40", "driver", "a service frees nine objects of ten",
             {Driver(kMiB).Count(0, 6).Lives(Life::kStep).Keeping(.1).Leak()}, Service());
  table->Add("C36", "handle", "events are created and not destroyed", {Handles(schema::EVENT).Leak()}, Service());
  table->Add("C38", "handle", "contexts are not destroyed", {Handles(schema::CONTEXT).Leak()}, Service());
}

// Each object is replaced by a larger one; corrected, by one of its size.
void AddBuffers(Table* table) {
  table->AddFixed("C45", "buffer", "predictions are joined on the device with those of all steps before",
                  {Blocks(256 * kKiB).Growing(1).At(Place::kEnd).Lives(Life::kReplaced).Leak()},
                  {Blocks(256 * kKiB).At(Place::kEnd).Lives(Life::kReplaced)}, kAGrowingBuffer);
  table->AddFixed("C46", "buffer", "a key-value cache that is never cropped",
                  {Blocks(64 * kKiB).Sites(2).Growing(1).Lives(Life::kReplaced).Leak()},
                  {Blocks(4 * kMiB).Sites(2).Lives(Life::kReplaced)}, kAGrowingBuffer);
  table->AddFixed("C47", "buffer", "a buffer is made larger in each fourth request",
                  {Driver(4 * kMiB).Every(4).Growing(.5).Lives(Life::kReplaced).Leak()},
                  {Driver(4 * kMiB).Every(4).Lives(Life::kReplaced)}, kAGrowingBuffer, Service());
  table->AddFixed("C48", "buffer", "a buffer grows from two fifths of the run on",
                  {Blocks(kMiB).Growing(1).From(.4).At(Place::kEnd).Lives(Life::kReplaced).Leak()},
                  {Blocks(kMiB).From(.4).At(Place::kEnd).Lives(Life::kReplaced)}, kAGrowingBuffer);
  // No hole that a buffer leaves is large enough for the next one.
  for (size_t i = table->size() - 4; i < table->size(); ++i) table->at(i).reserve_grows = std::nullopt;
}

}  // namespace

std::vector<Case> LeakCases() {
  Table table;
  AddGraphs(&table);
  AddLists(&table);
  AddCycles(&table);
  AddPools(&table);
  AddLibraries(&table);
  AddPrograms(&table);
  AddBuffers(&table);
  return table.Take();
}

}  // namespace vramtrack::corpus
