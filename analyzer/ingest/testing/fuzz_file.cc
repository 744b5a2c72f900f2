// SPDX-License-Identifier: Apache-2.0
#include "analyzer/ingest/testing/fuzz_file.h"

#include <algorithm>
#include <cstring>
#include <initializer_list>

#include "proto/frame_scanner.h"
#include "proto/message_writer.h"
#include "proto/testing/random_trace.h"

namespace vramtrack {
namespace {

enum Form : uint8_t { kFile, kBlocks, kJournal, kCheckpoint, kForms };

std::string HeaderPage() {
  std::string page(kHeaderBytes, '\0');
  WriteHeaderPage(reinterpret_cast<uint8_t*>(&page[0]));
  return page;
}

std::string Sealed(const std::string& payload) {
  std::string frame(kSealedPrefixBytes, '\0');
  frame += payload;
  SealFrame(reinterpret_cast<uint8_t*>(&frame[0]), schema::trace_field::blocks, payload.size());
  return frame;
}

// Payloads follow each other, each behind its length in two bytes.
std::string WithBlocks(const std::string& input) {
  std::string file = HeaderPage();
  for (size_t at = 0; at + 2 <= input.size();) {
    const size_t length = static_cast<uint8_t>(input[at]) | static_cast<size_t>(static_cast<uint8_t>(input[at + 1]))
                                                                << 8;
    file += Sealed(input.substr(at + 2, length));
    at += 2 + length;
  }
  return file;
}

std::string WithJournal(const std::string& input) {
  std::string journal(kMaxJournalBytes, '\0');
  WriteJournalPrefix(reinterpret_cast<uint8_t*>(&journal[0]), journal.size());
  std::memcpy(&journal[kJournalWordsOffset], input.data(),
              std::min(input.size(), journal.size() - kJournalWordsOffset));
  return HeaderPage() + journal;
}

// A file of bounded size that begins with a checkpoint, in two parts.
std::string WithCheckpoint(const std::string& input) {
  std::string file = HeaderPage();
  const uint64_t base = 1;
  std::memcpy(&file[kHeaderCountersOffset + 8 * schema::COUNTER_BASE_GENERATION], &base, sizeof base);
  for (uint32_t part = 0; part < 2; ++part) {
    namespace f = schema::checkpointPart_field;
    const std::string piece = part == 0 ? input.substr(0, input.size() / 2) : input.substr(input.size() / 2);
    std::string frame(kSealedPrefixBytes + piece.size() + 64, '\0');
    auto* at = reinterpret_cast<uint8_t*>(&frame[0]);
    MessageWriter out(at + kSealedPrefixBytes, frame.size() - kSealedPrefixBytes);
    out.Varint(f::generation, base);
    out.Varint(f::part, part);
    out.Varint(f::last, part);
    out.Bytes(f::piece, piece.data(), piece.size());
    SealFrame(at, schema::trace_field::checkpoint_parts, out.size());
    file += frame.substr(0, kSealedPrefixBytes + out.size());
  }
  return file;
}

// Two sites; live allocations of two threads, folds within a bin and across, steps, and what else there is.
std::string SmallCheckpoint() {
  namespace f = schema::checkpoint_field;
  uint8_t buffer[2048];
  MessageWriter out(buffer, sizeof buffer);
  const auto column = [&out](uint32_t field, std::initializer_list<uint64_t> values) {
    uint8_t* length = out.Begin(field);
    for (const uint64_t value : values) out.RawVarint(value);
    out.End(length);
  };
  out.Varint(f::events, 40);
  out.Varint(f::start_time, 1000);
  out.Varint(f::last_time, 5000);
  out.Varint(f::bin_shift, 10);
  column(f::thread, {0, 7});
  column(f::thread_events, {30, 10});
  column(f::thread_allocations, {15, 5});
  column(f::site_kind, {schema::DEVICE, schema::PINNED});
  column(f::site_device, {0, 1});
  column(f::site_stack, {1, 2});
  column(f::shape_site, {0, 1});
  column(f::shape_bytes, {512, 4096});
  column(f::shape_stream, {0, 9});
  column(f::run_thread, {0, 7});
  column(f::run_length, {2, 1});
  column(f::live_shape, {0, 1, 0});
  column(f::live_ordinal, {6, 4, 8});
  column(f::live_time, {100, 200, 300});
  column(f::live_address, {1 << 20, 1 << 12, 1 << 12});
  column(f::fold_site, {0, 1, 1});
  column(f::fold_birth, {0, 1, 2});
  column(f::fold_bins, {0, 1, 0});
  column(f::fold_count, {5, 3, 1});
  column(f::fold_bytes, {2560, 12288, 4096});
  column(f::fold_age, {20, 900, 3});
  uint8_t* steps = out.Begin(f::steps);
  out.Varint(schema::foldedSteps_field::count, 4);
  out.Varint(schema::foldedSteps_field::first_time, 1100);
  out.Varint(schema::foldedSteps_field::last_time, 1900);
  out.Varint(schema::foldedSteps_field::last_number, 3);
  out.End(steps);
  uint8_t* early = out.Begin(f::early_frees);
  out.Varint(schema::earlyFree_field::ordinal, 3);
  out.Varint(schema::earlyFree_field::time, 3000);
  out.Varint(schema::earlyFree_field::last_of, 8);
  out.End(early);
  uint8_t* failure = out.Begin(f::kept_failures);
  out.Varint(schema::keptFailure_field::kind, schema::DEVICE);
  out.Varint(schema::keptFailure_field::error, 2);
  out.Varint(schema::keptFailure_field::time, 2500);
  out.End(failure);
  uint8_t* setting = out.Begin(f::settings);
  out.Varint(schema::keptSetting_field::operation, schema::LIMIT);
  out.Varint(schema::keptSetting_field::second, 1 << 20);
  out.Varint(schema::keptSetting_field::time, 1300);
  out.End(setting);
  uint8_t* reset = out.Begin(f::resets);
  out.Varint(schema::keptReset_field::device, 1);
  out.Varint(schema::keptReset_field::time, 1200);
  out.End(reset);
  return std::string(reinterpret_cast<const char*>(buffer), out.size());
}

}  // namespace

std::string FileOfFuzzInput(const uint8_t* data, size_t size) {
  if (size == 0) return "";
  const std::string input(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0] % kForms) {
    case kBlocks:
      return WithBlocks(input);
    case kJournal:
      return WithJournal(input);
    case kCheckpoint:
      return WithCheckpoint(input);
    default:
      return input;
  }
}

std::vector<std::string> FuzzSeeds() {
  std::vector<std::string> seeds = {std::string(1, kCheckpoint) + SmallCheckpoint(),
                                    std::string(1, kFile) + WithCheckpoint(SmallCheckpoint())};
  for (const bool killed : {false, true}) {
    RandomTrace random(killed ? 1 : 2, 60, 3);
    if (!killed) random.trace.Seal(0);
    const std::string file = killed ? random.trace.Kill() : random.trace.Finish();
    seeds.push_back(std::string(1, kFile) + file);
    TraceLayout layout;
    ScanTrace(file, &layout);
    std::string blocks(1, kBlocks);
    for (const FrameRef& block : layout.blocks) {
      blocks += static_cast<char>(block.payload.size());
      blocks += static_cast<char>(block.payload.size() >> 8);
      blocks += block.payload;
    }
    seeds.push_back(blocks);
    for (const FrameRef& journal : layout.journals) {
      uint64_t committed;
      std::memcpy(&committed, journal.payload.data() + 8 * kJournalCommitted, sizeof committed);
      seeds.push_back(std::string(1, kJournal));
      seeds.back() += journal.payload.substr(0, 8 * (kJournalHeaderWords + committed));
    }
  }
  return seeds;
}

}  // namespace vramtrack
