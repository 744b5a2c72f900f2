// SPDX-License-Identifier: Apache-2.0
#include "proto/testing/trace_builder.h"

#include <cstring>
#include <utility>

namespace vramtrack {

TraceBuilder::TraceBuilder(std::function<void(const uint8_t*, size_t)> sink)
    : encoder_(std::make_unique<BlockEncoder>()), sink_(std::move(sink)) {}

void TraceBuilder::Append(uint32_t thread, std::initializer_list<uint64_t> words, bool event) {
  if (State(thread).words.size() + words.size() > kMaxRecordWords) Seal(thread);
  ThreadState& state = State(thread);
  state.words.insert(state.words.end(), words);
  if (event) {
    ++state.sequence;
    ++events_;
    last_time_ = words.begin()[1];
  }
}

AllocationId TraceBuilder::Allocate(uint32_t thread, uint64_t time, schema::Kind kind, uint32_t device, uint32_t stack,
                                    uint64_t address, uint64_t bytes, uint64_t stream) {
  const uint64_t first = EventWord(schema::ALLOCATE, kind, device, stream != 0 ? kHasStream : 0, stack);
  if (stream != 0) {
    Append(thread, {first, time, address, bytes, stream}, true);
  } else {
    Append(thread, {first, time, address, bytes}, true);
  }
  return {thread, State(thread).allocations++};
}

void TraceBuilder::Free(uint32_t thread, uint64_t time, schema::Kind kind, uint32_t device, AllocationId allocation) {
  Append(thread, {EventWord(schema::FREE, kind, device, 0, allocation.thread), time, allocation.ordinal}, true);
}

void TraceBuilder::Event(uint32_t thread, uint64_t time, schema::Operation operation, schema::Kind kind,
                         uint32_t device, uint32_t ref, const std::vector<uint64_t>& values) {
  const uint64_t first = EventWord(operation, kind, device, 0, ref);
  if (values.empty()) Append(thread, {first, time}, true);
  if (values.size() == 1) Append(thread, {first, time, values[0]}, true);
  if (values.size() == 2) Append(thread, {first, time, values[0], values[1]}, true);
}

void TraceBuilder::Step(uint32_t thread, uint64_t time, uint64_t number, double value) {
  uint64_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  Event(thread, time, schema::STEP, schema::KIND_NONE, 0, 0, {number, bits});
}

void TraceBuilder::DefineStack(uint32_t thread, uint32_t id, const std::vector<uint64_t>& frames,
                               uint32_t module_epoch) {
  const size_t words = 2 + frames.size();
  if (State(thread).words.size() + words > kMaxRecordWords) Seal(thread);
  std::vector<uint64_t>& to = State(thread).words;
  to.push_back(DefinitionWord(kDefineStack, words, id));
  to.push_back(module_epoch);
  to.insert(to.end(), frames.begin(), frames.end());
}

void TraceBuilder::DefineEncoded(uint32_t thread, const std::function<void(MessageWriter*)>& write) {
  uint8_t buffer[4096];
  MessageWriter writer(buffer, sizeof buffer);
  write(&writer);
  std::vector<uint64_t> padded((writer.size() + 7) / 8);
  std::memcpy(padded.data(), buffer, writer.size());
  if (State(thread).words.size() + 2 + padded.size() > kMaxRecordWords) Seal(thread);
  std::vector<uint64_t>& to = State(thread).words;
  to.push_back(DefinitionWord(kDefineEncoded, 2 + padded.size(), 0));
  to.push_back(writer.size());
  to.insert(to.end(), padded.begin(), padded.end());
}

void TraceBuilder::DefineModule(uint32_t thread, uint32_t id, const std::string& path, uint64_t load_bias,
                                uint64_t start, uint64_t end, uint32_t first_epoch) {
  DefineEncoded(thread, [&](MessageWriter* out) {
    uint8_t* message = out->Begin(schema::definitions_field::modules);
    out->Varint(schema::module_field::id, id);
    out->Varint(schema::module_field::first_epoch, first_epoch);
    out->String(schema::module_field::path, path.c_str());
    out->Fixed64(schema::module_field::load_bias, load_bias);
    out->Fixed64(schema::module_field::start, start);
    out->Fixed64(schema::module_field::end, end);
    out->End(message);
  });
}

void TraceBuilder::DefineThread(uint32_t thread, uint32_t tid, const std::string& name) {
  DefineEncoded(thread, [&](MessageWriter* out) {
    uint8_t* message = out->Begin(schema::definitions_field::threads);
    out->Varint(schema::thread_field::index, thread);
    out->Varint(schema::thread_field::tid, tid);
    out->String(schema::thread_field::name, name.c_str());
    out->End(message);
  });
}

void TraceBuilder::DefineHostReading(uint32_t thread, uint64_t time, uint64_t resident, uint64_t shared) {
  DefineEncoded(thread, [&](MessageWriter* out) {
    uint8_t* message = out->Begin(schema::definitions_field::host_readings);
    out->Varint(schema::hostReading_field::time, time);
    out->Varint(schema::hostReading_field::resident, resident);
    out->Varint(schema::hostReading_field::shared, shared);
    out->End(message);
  });
}

void TraceBuilder::DefineDevice(uint32_t thread, uint32_t index, const std::string& name, uint64_t total_bytes,
                                const std::string& uuid) {
  DefineEncoded(thread, [&](MessageWriter* out) {
    uint8_t* message = out->Begin(schema::definitions_field::devices);
    out->Varint(schema::device_field::index, index);
    out->String(schema::device_field::name, name.c_str());
    out->Fixed64(schema::device_field::total_bytes, total_bytes);
    if (!uuid.empty()) out->Bytes(schema::device_field::uuid, uuid.data(), uuid.size());
    out->End(message);
  });
}

void TraceBuilder::DefineCode(uint32_t thread, uint32_t id, const std::string& name, const std::string& file,
                              uint32_t first_line, schema::LineTable table, const std::string& lines) {
  DefineEncoded(thread, [&](MessageWriter* out) {
    uint8_t* message = out->Begin(schema::definitions_field::codes);
    out->Varint(schema::code_field::id, id);
    out->String(schema::code_field::name, name.c_str());
    out->String(schema::code_field::file, file.c_str());
    out->Varint(schema::code_field::first_line, first_line);
    out->Varint(schema::code_field::table, table);
    out->Bytes(schema::code_field::lines, lines.data(), lines.size());
    out->End(message);
  });
}

void TraceBuilder::DefinePythonStack(uint32_t thread, uint32_t id,
                                     const std::vector<std::pair<uint32_t, uint32_t>>& frames) {
  DefineEncoded(thread, [&](MessageWriter* out) {
    uint8_t* message = out->Begin(schema::definitions_field::python_stacks);
    out->Varint(schema::pythonStack_field::id, id);
    uint8_t* column = out->Begin(schema::pythonStack_field::code);
    for (const auto& [code, instruction] : frames) out->RawVarint(code);
    out->End(column);
    column = out->Begin(schema::pythonStack_field::instruction);
    for (const auto& [code, instruction] : frames) out->RawVarint(instruction);
    out->End(column);
    out->End(message);
  });
}

void TraceBuilder::DefineJoinedStack(uint32_t thread, uint32_t id, uint32_t native, uint32_t python, uint32_t forward,
                                     schema::GraphNode node) {
  DefineEncoded(thread, [&](MessageWriter* out) {
    uint8_t* message = out->Begin(schema::definitions_field::joined_stacks);
    out->Varint(schema::joinedStack_field::id, id);
    out->Varint(schema::joinedStack_field::native, native);
    out->Varint(schema::joinedStack_field::python, python);
    out->Varint(schema::joinedStack_field::forward, forward);
    out->Varint(schema::joinedStack_field::node, node);
    out->End(message);
  });
}

void TraceBuilder::DefineName(uint32_t thread, uint32_t id, const std::string& text, uint32_t domain) {
  DefineEncoded(thread, [&](MessageWriter* out) {
    uint8_t* message = out->Begin(schema::definitions_field::names);
    out->Varint(schema::name_field::id, id);
    out->Bytes(schema::name_field::text, text.data(), text.size());
    if (domain != 0) out->Varint(schema::name_field::domain, domain);
    out->End(message);
  });
}

void TraceBuilder::DefineProcess(uint32_t thread, uint32_t pid, const std::vector<std::string>& command, int rank,
                                 const std::vector<std::pair<std::string, std::string>>& environment,
                                 const std::string& host) {
  DefineEncoded(thread, [&](MessageWriter* out) {
    uint8_t* message = out->Begin(schema::definitions_field::process);
    out->Varint(schema::process_field::pid, pid);
    for (const std::string& word : command) out->String(schema::process_field::command, word.c_str());
    for (const auto& [name, value] : environment) {
      uint8_t* variable = out->Begin(schema::process_field::environment);
      out->String(schema::variable_field::name, name.c_str());
      out->String(schema::variable_field::value, value.c_str());
      out->End(variable);
    }
    out->SignedVarint(schema::process_field::rank, rank);
    if (!host.empty()) out->String(schema::process_field::host, host.c_str());
    if (!run_id_.empty()) out->String(schema::process_field::run_id, run_id_.c_str());
    out->End(message);
  });
}

void TraceBuilder::HolderWalk(const HolderWalkBuilder& walk) {
  const std::string frame = walk.Frame();
  Emit(reinterpret_cast<const uint8_t*>(frame.data()), frame.size());
}

void TraceBuilder::SetRun(std::string run_id, uint64_t start_realtime_ns) {
  run_id_ = std::move(run_id);
  start_realtime_ns_ = start_realtime_ns;
}

void TraceBuilder::Seal(uint32_t thread) {
  ThreadState& state = State(thread);
  size_t bytes;
  BlockSummary summary;
  const uint8_t* frame =
      encoder_->Encode({thread, state.first_sequence, state.first_allocation, state.words.data(), state.words.size()},
                       0, &bytes, &summary);
  Emit(frame, bytes);
  state.words.clear();
  state.first_sequence = state.sequence;
  state.first_allocation = state.allocations;
}

void TraceBuilder::Emit(const uint8_t* frame, size_t bytes) {
  if (sink_) {
    sink_(frame, bytes);
  } else {
    frames_.append(reinterpret_cast<const char*>(frame), bytes);
  }
}

std::string TraceBuilder::HeaderPage(bool finished) const {
  std::string page(kHeaderBytes, '\0');
  WriteHeaderPage(reinterpret_cast<uint8_t*>(&page[0]));
  uint64_t counters[kHeaderCounters] = {};
  counters[schema::COUNTER_TICKS_PER_SECOND] = 1000000000;
  counters[schema::COUNTER_CLOCK_TICKS] = counters[schema::COUNTER_CLOCK_MONOTONIC_NS] = last_time_;
  counters[schema::COUNTER_CLOCK_START_REALTIME_NS] = start_realtime_ns_;
  counters[schema::COUNTER_FINISHED] = finished;
  std::memcpy(&page[kHeaderCountersOffset], counters, sizeof counters);
  return page;
}

std::string TraceBuilder::Finish() {
  for (auto& [thread, state] : threads_) Seal(thread);
  uint8_t trailer[kTrailerBytes];
  MessageWriter out(trailer + kSealedPrefixBytes, kTrailerBytes - kSealedPrefixBytes);
  out.Fixed64(schema::trailer_field::last_index, 0);
  out.Fixed64(schema::trailer_field::events, events_);
  out.Fixed64(schema::trailer_field::end_ticks, last_time_);
  SealFrame(trailer, schema::trace_field::trailer, out.size());
  Emit(trailer, sizeof trailer);
  return HeaderPage(true) + frames_;
}

std::string TraceBuilder::Kill() {
  std::string file = HeaderPage(false) + frames_;
  for (auto& [thread, state] : threads_) {
    std::string journal(kMaxJournalBytes, '\0');
    WriteJournalPrefix(reinterpret_cast<uint8_t*>(&journal[0]), journal.size());
    uint64_t header[kJournalHeaderWords] = {};
    header[kJournalThread] = thread;
    header[kJournalCommitted] = state.words.size();
    header[kJournalFirstSequence] = state.first_sequence;
    header[kJournalFirstAllocation] = state.first_allocation;
    std::memcpy(&journal[kJournalWordsOffset], header, sizeof header);
    std::memcpy(&journal[kJournalWordsOffset + sizeof header], state.words.data(), 8 * state.words.size());
    file += journal;
  }
  return file;
}

}  // namespace vramtrack
