// SPDX-License-Identifier: Apache-2.0
//
// trace_seeds write FOLDER: small traces in every form, to be damaged.
// trace_seeds seal FILE: makes the checksums of a damaged trace right, so that damage gets past them.
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>

#include "analyzer/ingest/testing/fuzz_file.h"
#include "proto/frame.h"

namespace vramtrack {
namespace {

int Write(const std::string& folder) {
  int number = 0;
  for (const std::string& seed : FuzzSeeds()) {
    std::ofstream file(folder + "/seed" + std::to_string(number++) + ".vtrace", std::ios::binary);
    file << FileOfFuzzInput(reinterpret_cast<const uint8_t*>(seed.data()), seed.size());
    if (!file.flush()) return 1;
  }
  return 0;
}

// Every place that looks like a sealed frame is taken for one.
void Seal(std::string* file) {
  char sync[5] = {1 << 3 | 5};
  std::memcpy(sync + 1, &kSync, sizeof kSync);
  const std::string_view needle(sync, sizeof sync);
  constexpr size_t kBefore = 1 + kLengthBytes;
  for (size_t at = file->find(needle, kHeaderBytes); at != std::string::npos; at = file->find(needle, at + 1)) {
    if (at < kBefore + kHeaderBytes) continue;
    auto* frame = reinterpret_cast<uint8_t*>(&(*file)[at - kBefore]);
    const uint32_t field = frame[0] >> 3;
    if (field == schema::trace_field::journals || field == schema::trace_field::padding) continue;
    uint64_t length = 0;
    for (size_t i = 0; i < kLengthBytes; ++i) length |= static_cast<uint64_t>(frame[1 + i] & 0x7f) << 7 * i;
    if (kBefore + length < kSealedPrefixBytes || length > file->size() - at) continue;
    const uint64_t sum = PayloadChecksum(field, frame + kSealedPrefixBytes, kBefore + length - kSealedPrefixBytes);
    std::memcpy(frame + kFramePrefixBytes + 1, &sum, sizeof sum);
  }
}

int SealFile(const char* path) {
  std::ifstream in(path, std::ios::binary);
  std::string file{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  Seal(&file);
  std::ofstream out(path, std::ios::binary);
  out << file;
  return out.flush() ? 0 : 1;
}

}  // namespace
}  // namespace vramtrack

int main(int argc, char** argv) {
  if (argc == 3 && std::strcmp(argv[1], "write") == 0) return vramtrack::Write(argv[2]);
  if (argc == 3 && std::strcmp(argv[1], "seal") == 0) return vramtrack::SealFile(argv[2]);
  fprintf(stderr, "usage: trace_seeds write FOLDER | seal FILE\n");
  return 2;
}
