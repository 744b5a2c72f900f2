// SPDX-License-Identifier: Apache-2.0
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "analyzer/base/display_text.h"
#include "analyzer/cli/commands.h"
#include "analyzer/cli/output.h"
#include "analyzer/cli/shared_options.h"
#include "analyzer/cli/trace_text.h"
#include "analyzer/cupti/activity_stream.h"
#include "analyzer/holders/path_text.h"
#include "analyzer/ingest/event_stream.h"
#include "analyzer/ingest/holder_walks.h"
#include "analyzer/ingest/trace_choice.h"
#include "analyzer/ledger/kind.h"
#include "analyzer/render/text/event_words.h"

namespace vramtrack {
namespace {

constexpr char kNothing[] = "-";

std::string AddressOf(const StreamEvent& event) {
  if (event.operation == schema::ALLOCATE) return absl::StrFormat("0x%x", event.address);
  bool known = event.operation == schema::FREE_UNKNOWN && event.shape->operation == schema::FREE_UNKNOWN;
  return known ? absl::StrFormat("0x%x", event.value[0]) : kNothing;
}

std::string IdentityOf(const Trace& trace, const StreamEvent& event) {
  if (event.operation != schema::ALLOCATE && event.operation != schema::FREE) return kNothing;
  return absl::StrCat(trace.threads()[event.owner].thread, ":", event.ordinal);
}

std::string KindOf(const StreamEvent& event) {
  const std::string name = KindNameOf(event.operation, event.shape->kind);
  return name.empty() ? kNothing : name;
}

std::string EventLine(const Trace& trace, const StreamEvent& event, StackIndex stack) {
  const DecodedShape& shape = *event.shape;
  bool folded = event.operation == schema::FOLD_ALLOCATE || event.operation == schema::FOLD_FREE;
  bool sized = event.operation == schema::ALLOCATE || event.operation == schema::FAIL || folded;
  std::string line =
      absl::StrFormat("%14.9f %6u %-12s %-16s %6u %14s %18s %14s %6s %s", trace.clock().Seconds(event.time),
                      trace.threads()[event.slot].thread, OperationName(event.operation), KindOf(event), shape.device,
                      sized ? absl::StrCat(folded ? event.value[1] : shape.bytes) : kNothing, AddressOf(event),
                      IdentityOf(trace, event), stack == kEmptyStack ? kNothing : absl::StrCat(stack.value()),
                      EventDetails(trace, event));
  line.erase(line.find_last_not_of(' ') + 1);
  return line + "\n";
}

// Writes CUPTI's records, after the events; CUPTI's times are converted to those of events. False if the output was
// closed.
bool DumpActivities(const Trace& trace, OutputStream* out) {
  if (trace.activities().empty()) return true;
  if (!out->Write(absl::StrFormat("%14s %-16s %9s %6s %14s %18s %14s %11s %s\n", "#    seconds", "record", "operation",
                                  "device", "bytes", "address", "duration ns", "correlation", "details"))) {
    return false;
  }
  ActivityStream stream(trace);
  ActivityRecord record;
  uint64_t ticks;
  while (stream.Next(&record, &ticks)) {
    std::string details = ActivityOperationName(record.kind, record.operation);
    const std::string text = Printable(stream.Text(record.text));
    if (!text.empty()) absl::StrAppend(&details, details.empty() ? "" : " ", text);
    if (record.stream != 0) absl::StrAppend(&details, details.empty() ? "" : " ", "stream ", record.stream);
    if (record.pool != 0)
      absl::StrAppend(&details, details.empty() ? "" : " ", absl::StrFormat("pool 0x%x", record.pool));
    std::string line = absl::StrFormat(
        "%14.9f %-16s %9u %6u %14s %18s %14s %11u %s", trace.clock().Seconds(ticks), ActivityName(record.kind),
        record.operation, record.device, record.bytes == 0 ? kNothing : absl::StrCat(record.bytes),
        record.address == 0 ? kNothing : absl::StrFormat("0x%x", record.address),
        TakesTime(record.kind) ? absl::StrCat(record.duration_ns) : kNothing, record.correlation, details);
    line.erase(line.find_last_not_of(' ') + 1);
    if (!out->Write(line + "\n")) return false;
  }
  return true;
}

// Writes the walks through Python's objects, after the events: one line each, then one for each block. False if the
// output was closed.
bool DumpWalks(const Trace& trace, OutputStream* out) {
  const HolderWalks walks(trace);
  for (const HolderWalk& walk : walks.all()) {
    const double begin = trace.clock().Seconds(walk.begin_ticks), end = trace.clock().Seconds(walk.end_ticks);
    const char* stopped = HolderStopText(walk.stopped);
    if (!out->Write(absl::StrFormat("# walk %u %s, from %.9f to %.9f s: %u objects, %u tensors, %u blocks%s%s%s\n",
                                    walk.number, HolderMomentText(walk.moment), begin, end, walk.objects, walk.tensors,
                                    walk.blocks.size(), *stopped == '\0' ? "" : "; stopped early: ", stopped,
                                    walk.whole ? "" : "; a part of it is missing"))) {
      return false;
    }
    for (const WalkedBlock& block : walk.blocks) {
      const std::string path = block.path.is_none() ? kNothing : PathText(PathSteps(walks.paths(), walk, block.path));
      if (!out->Write(absl::StrFormat("    0x%x device %u flags 0x%x  %s\n", block.address, block.device.value(),
                                      block.flags, path))) {
        return false;
      }
    }
  }
  return true;
}

struct DumpArguments {
  std::vector<std::string> traces;
  bool stacks = false, raw_stacks = false;
  AnalysisOptions analysis;
};

// False if the output was closed.
bool DumpTrace(const Trace& trace, const DumpArguments& given, OutputStream* out) {
  out->Write(absl::StrFormat("# %s\n%14s %6s %-12s %-16s %6s %14s %18s %14s %6s %s\n", Printable(trace.path()),
                             "#    seconds", "thread", "operation", "kind", "device", "bytes", "address", "allocation",
                             "stack", "details"));
  TracedFrames frames(trace.definitions(), given.analysis.analyze.symbols.search.search_paths,
                      given.raw_stacks ? StackDetail::kRaw : StackDetail::kUseful);
  EventStream stream(trace);
  StreamEvent event;
  while (stream.Next(&event)) {
    StackIndex stack = HasStack(event.operation) ? trace.definitions().stacks.Distinct(event.shape->ref) : kEmptyStack;
    if (!out->Write(EventLine(trace, event, stack))) return false;
    if (!(given.stacks || given.raw_stacks) || stack == kEmptyStack) continue;
    for (const std::string& line : frames.Lines(stack)) out->Write(absl::StrCat("    ", line, "\n"));
  }
  if (!DumpActivities(trace, out)) return false;
  if (!DumpWalks(trace, out)) return false;
  if (stream.unreadable_events() > 0) {
    out->Write(absl::StrCat("# ", stream.unreadable_events(), " events could not be read\n"));
  }
  return true;
}

}  // namespace

int DumpCommand(const Arguments& arguments) {
  DumpArguments given;
  CommandParser parser("dump [OPTION...] TRACE...", "Print the events of a trace in time order, one per line.");
  parser.Positional("TRACE", &given.traces);
  parser.Flag("--stacks", &given.stacks, "print the call stack below each event that has one");
  parser.Flag("--raw-stacks", &given.raw_stacks, absl::StrCat("like --stacks, but ", kTextOfRawStacks));
  AddInput(&parser, &given.analysis);
  if (const auto code = parser.Parse(arguments)) return *code;

  OutputStream out;
  for (const std::string& path : ChooseAndSay(given.traces, given.analysis.all_runs).paths) {
    const absl::StatusOr<std::unique_ptr<Trace>> trace = Trace::Open(path);
    if (!trace.ok()) {
      out.Finish();
      OrFail(trace.status());
    }
    if (!DumpTrace(**trace, given, &out)) break;
  }
  return out.Finish();
}

}  // namespace vramtrack
