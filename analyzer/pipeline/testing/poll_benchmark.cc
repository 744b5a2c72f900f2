// SPDX-License-Identifier: Apache-2.0
//
// What a look at a job that runs costs, by how long the job has run: a synthetic trace grows, and at several lengths
// looks at it follow one another with the same number of new events between them. Prints processor time.
//
// usage: poll_benchmark [--shape=driver|pytorch] [--events=N] [--new=N] [--threads=N] [--no-steps]
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "analyzer/findings/followed_process.h"
#include "analyzer/ledger/testing/synthetic_trace.h"

namespace vramtrack {
namespace {

double ProcessorMs() {
  timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) * 1e-6;
}

struct Options {
  SyntheticTrace trace;
  uint64_t fresh = 100000;
};

bool ParseOptions(int argc, char** argv, Options* options) {
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    const size_t equals = argument.find('=');
    const std::string name = argument.substr(0, equals),
                      value = equals == std::string::npos ? "" : argument.substr(equals + 1);
    if (name == "--events") {
      options->trace.events = std::strtoull(value.c_str(), nullptr, 10);
    } else if (name == "--new") {
      options->fresh = std::strtoull(value.c_str(), nullptr, 10);
    } else if (name == "--threads") {
      options->trace.threads = static_cast<uint32_t>(std::strtoul(value.c_str(), nullptr, 10));
    } else if (argument == "--no-steps") {
      options->trace.steps = false;
    } else if (argument == "--shape=driver" || argument == "--shape=pytorch") {
      options->trace.shape = value == "driver" ? SyntheticShape::kDriver : SyntheticShape::kPyTorch;
    } else {
      return false;
    }
  }
  return options->trace.events > 0 && options->fresh > 0 && options->trace.threads > 0;
}

int Main(int argc, char** argv) {
  Options options;
  if (!ParseOptions(argc, argv, &options)) {
    std::fprintf(stderr,
                 "usage: poll_benchmark [--shape=driver|pytorch] [--events=N] [--new=N] [--threads=N] [--no-steps]\n");
    return 2;
  }
  std::string folder = std::filesystem::temp_directory_path().string() + "/poll_benchmark.XXXXXX";
  if (mkdtemp(folder.data()) == nullptr) return 1;
  const std::string whole = folder + "/whole.vtrace", growing = folder + "/job.vtrace";
  if (!WriteSyntheticTrace(whole, options.trace)) return 1;
  std::ifstream file(whole, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const double bytes_per_event = static_cast<double>(bytes.size()) / static_cast<double>(options.trace.events);
  FollowedProcess followed(growing);
  std::ofstream growth(growing, std::ios::binary);
  size_t written = 0;
  const auto look = [&](uint64_t events) {
    const size_t until = std::min(bytes.size() - 1, static_cast<size_t>(bytes_per_event * static_cast<double>(events)));
    growth.write(bytes.data() + written, static_cast<std::streamsize>(until - written)).flush();
    written = until;
    const double began = ProcessorMs();
    const absl::StatusOr<ProcessFindings> findings = followed.Look({});
    const double took = ProcessorMs() - began;
    if (!findings.ok()) std::exit(1);
    std::printf("%12" PRIu64 " %10" PRIu64 " %6" PRIu64 " %10.1f\n", findings->process.events, followed.replayed(),
                findings->steps.count, took);
  };
  std::printf("%12s %10s %6s %10s\n", "events", "replayed", "steps", "ms");
  for (const uint64_t share : {10, 5, 2, 1}) {
    for (uint64_t later = 3; later-- > 0;) look(options.trace.events / share - later * options.fresh);
  }
  std::filesystem::remove_all(folder);
  return 0;
}

}  // namespace
}  // namespace vramtrack

int main(int argc, char** argv) { return vramtrack::Main(argc, argv); }
