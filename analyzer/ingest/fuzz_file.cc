// SPDX-License-Identifier: Apache-2.0
#include "analyzer/ingest/fuzz_file.h"

#include <algorithm>
#include <cstring>

#include "proto/frame_scanner.h"
#include "proto/random_trace.h"

namespace vramtrack {
namespace {

enum Form : uint8_t { kFile, kBlocks, kJournal, kForms };

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

}  // namespace

std::string FileOfFuzzInput(const uint8_t* data, size_t size) {
  if (size == 0) return "";
  const std::string input(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0] % kForms) {
    case kBlocks:
      return WithBlocks(input);
    case kJournal:
      return WithJournal(input);
    default:
      return input;
  }
}

std::vector<std::string> FuzzSeeds() {
  std::vector<std::string> seeds;
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
