// SPDX-License-Identifier: Apache-2.0
//
// How fast a trace is decoded and replayed, on one core, and with how much memory. Writes a synthetic trace to a file
// first, so that any number of events can be asked for; with --output that is all.
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include "analyzer/ingest/event_stream.h"
#include "analyzer/ingest/trace.h"
#include "analyzer/ledger/ledger.h"
#include "analyzer/ledger/site_histories.h"
#include "analyzer/ledger/testing/synthetic_trace.h"
#include "analyzer/peaks/failure_log.h"
#include "analyzer/peaks/timeline.h"

namespace vramtrack {
namespace {

struct Options {
  SyntheticTrace trace;
  std::string output;  // where the trace is kept; nothing is measured then
  std::string folder;
  bool json = false;
};

// Processor time, so that what else runs on the machine does not count.
double ProcessorSeconds() {
  timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

uint64_t PeakRssBytes() {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<uint64_t>(usage.ru_maxrss) * 1024;
}

bool ParseShape(const std::string& name, SyntheticShape* shape) {
  constexpr std::pair<const char*, SyntheticShape> kShapes[] = {
      {"driver", SyntheticShape::kDriver}, {"pytorch", SyntheticShape::kPyTorch}, {"sites", SyntheticShape::kSites}};
  for (const auto& [known, value] : kShapes) {
    if (name != known) continue;
    *shape = value;
    return true;
  }
  return false;
}

bool ParseOptions(int argc, char** argv, Options* options) {
  bool fine = true;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    const size_t equals = argument.find('=');
    const std::string name = argument.substr(0, equals);
    const std::string value = equals == std::string::npos ? "" : argument.substr(equals + 1);
    if (argument == "--json") {
      options->json = true;
    } else if (argument == "--no-steps") {
      options->trace.steps = false;
    } else if (name == "--events") {
      options->trace.events = std::strtoull(value.c_str(), nullptr, 10);
    } else if (name == "--threads") {
      options->trace.threads = static_cast<uint32_t>(std::strtoul(value.c_str(), nullptr, 10));
    } else if (name == "--rank") {
      options->trace.rank = static_cast<int>(std::strtol(value.c_str(), nullptr, 10));
    } else if (name == "--output") {
      options->output = value;
    } else {
      fine &= name == "--shape" && ParseShape(value, &options->trace.shape);
    }
  }
  const char* folder = std::getenv("TMPDIR");
  options->folder = folder != nullptr ? folder : "/tmp";
  if (fine && options->trace.events > 0 && options->trace.threads > 0) return true;
  std::fprintf(stderr,
               "usage: replay_benchmark [--shape=driver|pytorch|sites] [--events=N] [--threads=N] [--no-steps]\n"
               "                        [--rank=N] [--output=FILE | --json]\n");
  return false;
}

int Main(int argc, char** argv) {
  Options options;
  if (!ParseOptions(argc, argv, &options)) return 2;
  std::string path = options.output;
  if (path.empty()) {
    path = options.folder + "/replay_benchmark.XXXXXX";
    const int fd = mkstemp(&path[0]);
    if (fd < 0) {
      std::fprintf(stderr, "%s: %s\n", options.folder.c_str(), std::strerror(errno));
      return 1;
    }
    close(fd);
  }
  if (!WriteSyntheticTrace(path, options.trace)) {
    std::fprintf(stderr, "%s: %s\n", path.c_str(), std::strerror(errno));
    unlink(path.c_str());
    return 1;
  }
  if (!options.output.empty()) return 0;

  double begin = ProcessorSeconds();
  absl::StatusOr<std::unique_ptr<Trace>> trace = Trace::Open(path);
  unlink(path.c_str());
  if (!trace.ok()) {
    std::fprintf(stderr, "%s\n", std::string(trace.status().message()).c_str());
    return 1;
  }
  const double open_s = ProcessorSeconds() - begin;

  begin = ProcessorSeconds();
  EventStream stream(**trace);
  uint64_t decoded = 0;
  for (StreamEvent event; stream.Next(&event);) ++decoded;
  const double decode_s = ProcessorSeconds() - begin;

  begin = ProcessorSeconds();
  StepPlan plan;
  if (options.trace.steps) plan.mark_slot = ThreadSlot(0);
  // As the replay of a report that verdicts are made from.
  SiteHistories histories;
  LevelTimeline timeline(**trace);
  FailureLog failures(**trace);
  LedgerOptions replay;
  replay.observers = {&histories, &timeline, &failures};
  Ledger ledger(**trace, plan, replay);
  ledger.Replay();
  const double replay_s = ProcessorSeconds() - begin;

  const auto events = static_cast<double>(ledger.events());
  if (options.json) {
    std::printf(
        "{\"events\": %" PRIu64 ", \"threads\": %u, \"file_bytes\": %" PRIu64
        ", \"bytes_per_event\": %.3f, \"open_s\": %.3f, \"decode_events_per_s\": %.0f, \"replay_events_per_s\": %.0f, "
        "\"open_and_replay_events_per_s\": %.0f, \"steps\": %u, \"sites\": %zu, \"live_objects\": %" PRIu64
        ", \"peak_rss_bytes\": %" PRIu64 "}\n",
        ledger.events(), options.trace.threads, (*trace)->file_bytes(),
        static_cast<double>((*trace)->file_bytes()) / events, open_s, static_cast<double>(decoded) / decode_s,
        events / replay_s, events / (open_s + replay_s), ledger.steps().step(), ledger.sites().size(),
        ledger.live_objects(), PeakRssBytes());
  } else {
    std::printf("%" PRIu64
                " events, %.2f bytes each; opened in %.2f s; %.1f million events/s decoded, %.1f decoded and "
                "replayed; peak memory %.1f MiB\n",
                ledger.events(), static_cast<double>((*trace)->file_bytes()) / events, open_s,
                static_cast<double>(decoded) / decode_s / 1e6, events / replay_s / 1e6,
                static_cast<double>(PeakRssBytes()) / 1048576);
  }
  return 0;
}

}  // namespace
}  // namespace vramtrack

int main(int argc, char** argv) { return vramtrack::Main(argc, argv); }
