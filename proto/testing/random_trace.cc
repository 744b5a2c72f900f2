// SPDX-License-Identifier: Apache-2.0
#include "proto/testing/random_trace.h"

#include <random>

namespace vramtrack {

// A code object, a stack of such, and what they join; some of it is not defined, or something else.
template <typename Below>
void RandomTrace::DefinePython(uint32_t thread, const Below& below) {
  std::string lines(below(40), '\0');
  for (char& byte : lines) byte = static_cast<char>(below(256));
  ++codes;
  trace.DefineCode(thread, codes, "Model.forward", "/job/model.py", static_cast<uint32_t>(below(500)),
                   static_cast<schema::LineTable>(below(4)), lines);
  trace.DefineName(thread, codes, "Optimizer.step");
  std::vector<std::pair<uint32_t, uint32_t>> frames;
  for (uint64_t depth = below(20); depth > 0; --depth) {
    frames.emplace_back(static_cast<uint32_t>(below(codes + 2)), static_cast<uint32_t>(below(100)));
  }
  trace.DefinePythonStack(thread, static_cast<uint32_t>(++stacks), frames);
  const auto any = [&] { return static_cast<uint32_t>(below(stacks + 2)); };
  const uint32_t native = any(), forward = any();
  const auto python = static_cast<uint32_t>(stacks);
  trace.DefineJoinedStack(thread, static_cast<uint32_t>(++stacks), native, python, forward,
                          static_cast<schema::GraphNode>(below(3)));
}

// A walk with paths, of which some are of no use, to blocks that are live or not.
template <typename Below>
void RandomTrace::WalkHolders(uint64_t time, const Below& below) {
  HolderWalkBuilder walk(++walks, static_cast<schema::HolderMoment>(below(7)), time - below(time), time);
  walk.SetCounts(below(1000), below(100));
  walk.SetStopped(static_cast<schema::HolderStop>(below(5)));
  uint32_t paths = 0;
  for (uint64_t count = below(30); count > 0; --count) {
    static constexpr const char* kNames[] = {"", "history", "loss", "0", "AddmmBackward0", "list"};
    const auto name = [&below] { return kNames[below(6)]; };
    paths = walk.Path(static_cast<uint32_t>(below(paths + 1)), static_cast<schema::HolderStep>(1 + below(24)), name(),
                      name(), below(2000), below(2000), name());
  }
  const uint32_t shape = walk.Shape({below(100), below(100)});
  for (uint64_t count = below(50); count > 0; --count) {
    walk.Block(0x7f0000000000 + 512 * below(1 << 10), static_cast<uint32_t>(below(paths + 1)),
               static_cast<uint32_t>(below(128)), "Tensor", static_cast<uint32_t>(below(40)),
               static_cast<uint32_t>(below(shape + 1)), static_cast<uint32_t>(below(3)));
  }
  trace.HolderWalk(walk);
}

RandomTrace::RandomTrace(uint64_t seed, int count, uint32_t threads) {
  std::mt19937_64 random(seed);
  const auto below = [&random](uint64_t n) { return random() % n; };
  // Small numbers most of the time, now and then any.
  const auto number = [&] { return below(10) == 0 ? random() : below(1 << (1 + below(20))); };
  uint64_t time = random() >> 8;
  trace.DefineProcess(0, 4242, {"./job", "--flag"}, 3);
  trace.DefineThread(0, 4242, "main");
  trace.DefineDevice(0, 0, "Device", 1u << 30);
  trace.DefineModule(0, 1, "/bin/job", 0x400000, 0x401000, 0x500000);
  std::vector<AllocationId> live;
  for (int i = 0; i < count; ++i) {
    const auto thread = static_cast<uint32_t>(below(threads));
    time += below(3) == 0 ? number() >> 20 : below(5000);
    if (below(40) == 0 || stacks == 0) {
      std::vector<uint64_t> frames;
      for (uint64_t depth = below(70); depth > 0; --depth) frames.push_back(0x400000 + 4 * below(100));
      trace.DefineStack(thread, static_cast<uint32_t>(++stacks), frames, static_cast<uint32_t>(below(3)));
    }
    if (below(80) == 0) DefinePython(thread, below);
    if (below(500) == 0) WalkHolders(time, below);
    RecordedEvent event;
    event.time = time;
    event.device = static_cast<uint32_t>(below(4));
    const auto stack = static_cast<uint32_t>(1 + below(stacks));
    const uint64_t dice = below(20);
    if (dice < 9 || live.empty()) {
      event.operation = schema::ALLOCATE;
      event.kind = below(2) == 0 ? schema::DEVICE : schema::STREAM_ORDERED;
      event.ref = stack;
      event.bytes = number();
      event.stream = below(4) == 0 ? number() : 0;
      event.address = below(20) == 0 ? random() : 0x7f0000000000 + 512 * number();
      const AllocationId id = trace.Allocate(thread, time, static_cast<schema::Kind>(event.kind), event.device,
                                             event.ref, event.address, event.bytes, event.stream);
      event.ordinal = id.ordinal;
      live.push_back(id);
    } else if (dice < 16) {
      const size_t victim = below(live.size());
      event.operation = schema::FREE;
      event.kind = schema::DEVICE;
      event.ref = live[victim].thread;
      event.ordinal = live[victim].ordinal;
      trace.Free(thread, time, schema::DEVICE, event.device, live[victim]);
      live[victim] = live.back();
      live.pop_back();
    } else {
      constexpr schema::Operation kOthers[] = {schema::FREE_UNKNOWN, schema::FAIL,        schema::FREE_FAILED,
                                               schema::STEP,         schema::MEMORY_INFO, schema::DEVICE_RESET,
                                               schema::TRIM,         schema::LIMIT,       schema::FRAMEWORK_MEMORY,
                                               schema::MARK};
      constexpr size_t kValues[] = {1, 1, 1, 2, 2, 0, 2, 2, 2, 2};
      const size_t which = below(10);
      event.operation = kOthers[which];
      for (size_t k = 0; k < kValues[which]; ++k) event.values.push_back(number());
      std::vector<uint64_t> words = event.values;
      if (event.operation == schema::FAIL) {
        event.kind = schema::DEVICE;
        event.ref = stack;
        event.bytes = number();
        words.push_back(event.bytes);
      }
      trace.Event(thread, time, kOthers[which], static_cast<schema::Kind>(event.kind), event.device, event.ref, words);
    }
    events[thread].push_back(event);
    if (below(1000) == 0) trace.Seal(thread);
  }
}

}  // namespace vramtrack
