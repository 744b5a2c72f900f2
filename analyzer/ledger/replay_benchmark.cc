// SPDX-License-Identifier: Apache-2.0
//
// How fast a trace is decoded and replayed, on one core, and with how much memory. Writes a synthetic trace to a file
// first, so that any number of events can be asked for.
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>

#include "analyzer/ingest/event_stream.h"
#include "analyzer/ingest/trace.h"
#include "analyzer/ledger/ledger.h"
#include "proto/trace_builder.h"

namespace vramtrack {
namespace {

struct Options {
  uint64_t events = 10000000;
  uint32_t threads = 1;
  std::string folder;
  bool json = false;
};

// A step of a training job, over and over: for each of its layers activations that live until the layer's turn comes
// back, two workspaces that are freed at once, and one small block of each step that stays.
class SyntheticJob {
 public:
  static constexpr uint32_t kLayers = 100, kSitesPerLayer = 10;

  SyntheticJob(TraceBuilder* trace, uint32_t threads) : trace_(trace), threads_(threads) {
    for (uint32_t id = 1; id <= kLayers * kSitesPerLayer; ++id) {
      std::vector<uint64_t> frames;
      for (uint64_t depth = 0; depth < 40; ++depth) frames.push_back(0x400000 + 64 * id * (depth < 4) + 16 * depth);
      trace_->DefineStack(0, id, frames);
    }
  }

  uint64_t Step(uint64_t number) {
    const uint64_t before = events_;
    std::vector<std::pair<AllocationId, uint32_t>> activations;
    for (uint32_t layer = 0; layer < kLayers; ++layer) {
      const uint32_t thread = layer % threads_;
      for (uint32_t i = 0; i < kSitesPerLayer; ++i) {
        const uint32_t stack = 1 + layer * kSitesPerLayer + i;
        const uint64_t address = (uint64_t{1} << 32) + (uint64_t{stack} << 22);
        const AllocationId id = trace_->Allocate(thread, Now(), schema::DEVICE, 0, stack, address, 4096u << (i % 8));
        ++events_;
        if (i % 5 < 2) {
          trace_->Free(thread, Now(), schema::DEVICE, 0, id);
          ++events_;
        } else {
          activations.push_back({id, thread});
        }
      }
    }
    for (auto at = activations.rbegin(); at != activations.rend(); ++at) {
      trace_->Free((at->second + 1) % threads_, Now(), schema::DEVICE, 0, at->first);
      ++events_;
    }
    trace_->Allocate(0, Now(), schema::DEVICE, 0, 1, (uint64_t{1} << 42) + 512 * number, 512);
    trace_->Step(0, Now(), number);
    events_ += 2;
    return events_ - before;
  }

 private:
  uint64_t Now() { return time_ += 2000 + events_ * 7919 % 1000; }

  TraceBuilder* trace_;
  uint32_t threads_;
  uint64_t time_ = 1000000, events_ = 0;
};

bool WriteTrace(const std::string& path, const Options& options) {
  FILE* file = std::fopen(path.c_str(), "wb");
  if (file == nullptr) return false;
  TraceBuilder trace([file](const uint8_t* frame, size_t bytes) { std::fwrite(frame, 1, bytes, file); });
  std::string header = trace.HeaderPage(false);
  std::fwrite(header.data(), 1, header.size(), file);
  SyntheticJob job(&trace, options.threads);
  uint64_t step = 0;
  for (uint64_t events = 0; events < options.events;) events += job.Step(step++);
  header = trace.Finish();  // all frames went to the file
  std::rewind(file);
  std::fwrite(header.data(), 1, header.size(), file);
  const bool fine = std::ferror(file) == 0;
  return std::fclose(file) == 0 && fine;
}

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

bool ParseOptions(int argc, char** argv, Options* options) {
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--json") {
      options->json = true;
    } else if (argument.rfind("--events=", 0) == 0) {
      options->events = std::strtoull(argument.c_str() + 9, nullptr, 10);
    } else if (argument.rfind("--threads=", 0) == 0) {
      options->threads = static_cast<uint32_t>(std::strtoul(argument.c_str() + 10, nullptr, 10));
    } else {
      std::fprintf(stderr, "usage: replay_benchmark [--events=N] [--threads=N] [--json]\n");
      return false;
    }
  }
  const char* folder = std::getenv("TMPDIR");
  options->folder = folder != nullptr ? folder : "/tmp";
  return options->events > 0 && options->threads > 0;
}

int Main(int argc, char** argv) {
  Options options;
  if (!ParseOptions(argc, argv, &options)) return 2;
  std::string path = options.folder + "/replay_benchmark.XXXXXX";
  const int fd = mkstemp(&path[0]);
  if (fd < 0) {
    std::fprintf(stderr, "%s: %s\n", options.folder.c_str(), std::strerror(errno));
    return 1;
  }
  close(fd);
  const bool written = WriteTrace(path, options);
  if (!written) {
    std::fprintf(stderr, "%s: could not be written\n", path.c_str());
    unlink(path.c_str());
    return 1;
  }

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
  plan.mark_slot = 0;
  Ledger ledger(**trace, plan);
  ledger.Replay();
  const double replay_s = ProcessorSeconds() - begin;

  const auto events = static_cast<double>(ledger.events());
  if (options.json) {
    std::printf(
        "{\"events\": %" PRIu64 ", \"threads\": %u, \"file_bytes\": %" PRIu64
        ", \"bytes_per_event\": %.3f, \"open_s\": %.3f, \"decode_events_per_s\": %.0f, \"replay_events_per_s\": %.0f, "
        "\"open_and_replay_events_per_s\": %.0f, \"steps\": %u, \"sites\": %zu, \"live_objects\": %" PRIu64
        ", \"peak_rss_bytes\": %" PRIu64 "}\n",
        ledger.events(), options.threads, (*trace)->file_bytes(), static_cast<double>((*trace)->file_bytes()) / events,
        open_s, static_cast<double>(decoded) / decode_s, events / replay_s, events / (open_s + replay_s),
        ledger.steps().step(), ledger.sites().size(), ledger.live_objects(), PeakRssBytes());
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
