// SPDX-License-Identifier: Apache-2.0
//
// Checks that for arbitrary bytes in a trace file the reader does not crash or hang and keeps its guarantees.
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "analyzer/ingest/event_stream.h"
#include "analyzer/ingest/holder_walks.h"
#include "analyzer/ingest/testing/fuzz_file.h"
#include "analyzer/ingest/trace.h"

namespace {

void Require(bool promise) {
  if (!promise) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace vramtrack;
  const std::string file = FileOfFuzzInput(data, size);
  absl::StatusOr<std::unique_ptr<Trace>> trace = Trace::Read(file, "fuzz");
  if (!trace.ok()) {
    Require(trace.status().message().find('\n') == absl::string_view::npos);
    return 0;
  }
  (*trace)->IncompleteWhy();
  const Definitions& definitions = (*trace)->definitions();
  for (size_t stack = 0; stack < definitions.stacks.native_count(); ++stack) {
    const StackRef ref = definitions.stacks.Native(stack);
    for (size_t i = 0; i < ref.count; ++i) definitions.modules.Find(ref.frames[i], ref.module_epoch);
  }
  Require(definitions.stacks.Get(kEmptyStack).empty());
  for (const StackIndex stack : definitions.stacks.distinct()) {
    const JoinedStackRef ref = definitions.stacks.Get(stack);
    Require(ref.empty() == (stack == kEmptyStack));
    for (const PythonStackRef& python : {ref.python, ref.forward}) {
      // A small file may join long stacks in many ways.
      if (python.count > 0) definitions.codes.Get(python.frames[python.count - 1].code);
    }
  }
  const HolderWalks walks(**trace);
  for (const HolderWalk& walk : walks.all()) {
    for (size_t i = 1; i < walk.blocks.size(); ++i) Require(walk.blocks[i - 1].address < walk.blocks[i].address);
    for (const WalkedBlock& block : walk.blocks)
      Require(block.path.is_none() || block.path.value() < walks.paths().size());
  }
  EventStream stream(**trace);
  uint64_t events = 0;
  IndexedVector<ThreadSlot, uint64_t> time(stream.slots());
  for (StreamEvent event; stream.Next(&event);) {
    Require(time.Has(event.slot));
    *event.note += 1;
    if (event.operation == schema::FREE) Require(time.Has(event.owner));
    if (event.past) continue;
    ++events;
    Require(event.time >= time[event.slot]);
    time[event.slot] = event.time;
  }
  if ((*trace)->past() != nullptr) return 0;  // what it says of its number of events is not checked
  Require(events + stream.unreadable_events() <= (*trace)->events());
  return 0;
}
