// SPDX-License-Identifier: Apache-2.0
//
// Runs a fuzz target without libFuzzer: the seeds, then mutations of them, for some seconds. With --write-seeds DIR it
// writes the seeds for libFuzzer instead.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "analyzer/ingest/testing/fuzz_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace vramtrack {
namespace {

constexpr int kSeconds = 8;

void Mutate(std::mt19937_64* random, const std::vector<std::string>& seeds, std::string* input) {
  const auto below = [random](uint64_t n) { return (*random)() % n; };
  constexpr uint8_t kEdges[] = {0, 1, 2, 0x7f, 0x80, 0xfe, 0xff};
  for (uint64_t times = 1 + below(8); times > 0; --times) {
    const size_t at = input->empty() ? 0 : below(input->size());
    switch (below(7)) {
      case 0:
        if (!input->empty()) (*input)[at] = static_cast<char>((*input)[at] ^ 1 << below(8));
        break;
      case 1:
        if (!input->empty()) (*input)[at] = static_cast<char>(kEdges[below(sizeof kEdges)]);
        break;
      case 2:
        input->insert(at, 1 + below(9), static_cast<char>(below(256)));
        break;
      case 3:
        input->erase(at, 1 + below(20));
        break;
      case 4:
        input->resize(at);
        break;
      case 5: {
        const std::string& other = seeds[below(seeds.size())];
        const size_t from = below(other.size());
        input->insert(at, other.substr(from, below(200)));
        break;
      }
      default:
        if (input->size() > 8) {
          const uint64_t value = (*random)() >> below(64);
          std::memcpy(&(*input)[below(input->size() - 8)], &value, sizeof value);
        }
    }
  }
}

int WriteSeeds(const std::string& folder) {
  int number = 0;
  for (const std::string& seed : FuzzSeeds()) {
    FILE* file = std::fopen((folder + "/seed" + std::to_string(number++)).c_str(), "wb");
    if (file == nullptr) return 1;
    std::fwrite(seed.data(), 1, seed.size(), file);
    if (std::fclose(file) != 0) return 1;
  }
  return 0;
}

int Run() {
  const std::vector<std::string> seeds = FuzzSeeds();
  std::mt19937_64 random(1);
  uint64_t runs = 0;
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(kSeconds);
  do {
    for (const std::string& seed : seeds) {
      std::string input = seed;
      if (runs >= seeds.size()) Mutate(&random, seeds, &input);
      LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(input.data()), input.size());
      ++runs;
    }
  } while (std::chrono::steady_clock::now() < until);
  std::printf("%llu inputs\n", static_cast<unsigned long long>(runs));
  return 0;
}

}  // namespace
}  // namespace vramtrack

int main(int argc, char** argv) {
  if (argc == 3 && std::strcmp(argv[1], "--write-seeds") == 0) return vramtrack::WriteSeeds(argv[2]);
  return vramtrack::Run();
}
