// SPDX-License-Identifier: Apache-2.0
//
// Makes traces in memory, for tests and benchmarks, through the same journal and encoder as the recorder.
#ifndef PROTO_TESTING_TRACE_BUILDER_H_
#define PROTO_TESTING_TRACE_BUILDER_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "proto/block_encoder.h"
#include "proto/message_writer.h"
#include "proto/testing/holder_walk_builder.h"

namespace vramtrack {

struct AllocationId {
  uint32_t thread;
  uint64_t ordinal;
};

// Thread-compatible. Times are ticks of one nanosecond and must not decrease within a thread.
class TraceBuilder {
 public:
  // Sealed frames go to `sink` when they are made (default: they are kept for Finish).
  explicit TraceBuilder(std::function<void(const uint8_t*, size_t)> sink = nullptr);

  AllocationId Allocate(uint32_t thread, uint64_t time, schema::Kind kind, uint32_t device, uint32_t stack,
                        uint64_t address, uint64_t bytes, uint64_t stream = 0);
  void Free(uint32_t thread, uint64_t time, schema::Kind kind, uint32_t device, AllocationId allocation);
  // Records any other event; schema::Operation explains its values.
  void Event(uint32_t thread, uint64_t time, schema::Operation operation, schema::Kind kind, uint32_t device,
             uint32_t ref, const std::vector<uint64_t>& values);
  void Step(uint32_t thread, uint64_t time, uint64_t number, double value = 0);

  void DefineStack(uint32_t thread, uint32_t id, const std::vector<uint64_t>& frames, uint32_t module_epoch = 0);
  void DefineModule(uint32_t thread, uint32_t id, const std::string& path, uint64_t load_bias, uint64_t start,
                    uint64_t end, uint32_t first_epoch = 0);
  void DefineThread(uint32_t thread, uint32_t tid, const std::string& name);
  void DefineDevice(uint32_t thread, uint32_t index, const std::string& name, uint64_t total_bytes,
                    const std::string& uuid = "");
  void DefineHostReading(uint32_t thread, uint64_t time, uint64_t resident, uint64_t shared);
  void DefineCode(uint32_t thread, uint32_t id, const std::string& name, const std::string& file, uint32_t first_line,
                  schema::LineTable table, const std::string& lines);
  // Frames are (code, offset of the instruction, odd where native code called the interpreter anew), innermost first.
  void DefinePythonStack(uint32_t thread, uint32_t id, const std::vector<std::pair<uint32_t, uint32_t>>& frames);
  void DefineJoinedStack(uint32_t thread, uint32_t id, uint32_t native, uint32_t python, uint32_t forward = 0,
                         schema::GraphNode node = schema::NODE_NONE);
  void DefineName(uint32_t thread, uint32_t id, const std::string& text, uint32_t domain = 0);
  void DefineProcess(uint32_t thread, uint32_t pid, const std::vector<std::string>& command, int rank = -1,
                     const std::vector<std::pair<std::string, std::string>>& environment = {},
                     const std::string& host = "");

  // Adds a walk through Python's objects, or a part of one.
  void HolderWalk(const HolderWalkBuilder& walk);

  // Sets the run of the process that is defined next, and the start of the file.
  void SetRun(std::string run_id, uint64_t start_realtime_ns);

  // Writes what `thread` has recorded as a block.
  void Seal(uint32_t thread);
  // Returns the file as a process that ended normally leaves it.
  std::string Finish();
  // Returns the file as a killed process leaves it: unsealed events are in journals.
  std::string Kill();

  std::string HeaderPage(bool finished) const;

 private:
  struct ThreadState {
    std::vector<uint64_t> words;
    uint64_t sequence = 0, allocations = 0;             // recorded so far
    uint64_t first_sequence = 0, first_allocation = 0;  // of the unsealed part
  };

  ThreadState& State(uint32_t thread) { return threads_[thread]; }
  void Append(uint32_t thread, std::initializer_list<uint64_t> words, bool event);
  void DefineEncoded(uint32_t thread, const std::function<void(MessageWriter*)>& write);
  void Emit(const uint8_t* frame, size_t bytes);

  std::map<uint32_t, ThreadState> threads_;
  std::unique_ptr<BlockEncoder> encoder_;
  std::function<void(const uint8_t*, size_t)> sink_;
  std::string frames_;
  std::string run_id_;
  uint64_t start_realtime_ns_ = 0;
  uint64_t events_ = 0, last_time_ = 0;
};

}  // namespace vramtrack

#endif  // PROTO_TESTING_TRACE_BUILDER_H_
