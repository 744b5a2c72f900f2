// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <cmath>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "analyzer/base/display_text.h"
#include "analyzer/base/quantity.h"
#include "analyzer/cli/commands.h"
#include "analyzer/cli/output.h"
#include "analyzer/cli/progress.h"
#include "analyzer/cli/shared_options.h"
#include "analyzer/cli/summary_info.h"
#include "analyzer/cli/trace_text.h"
#include "analyzer/cupti/activity_stream.h"
#include "analyzer/ingest/event_stream.h"
#include "analyzer/ingest/holder_walks.h"
#include "analyzer/ingest/trace_choice.h"
#include "analyzer/ingest/unseen_text.h"
#include "analyzer/ledger/kind.h"
#include "analyzer/render/text/event_words.h"
#include "analyzer/render/text/page.h"
#include "analyzer/summary/summary.h"

namespace vramtrack {
namespace {

constexpr size_t kMostDamageLines = 20;

// Events by operation and kind, and by thread.
struct EventCounts {
  std::map<uint32_t, std::map<uint32_t, uint64_t>> by_operation;
  IndexedVector<ThreadSlot, uint64_t> by_slot;
  uint64_t last_time = 0;
  uint64_t unreadable = 0;
};

EventCounts Count(const Trace& trace) {
  EventCounts counts;
  for (const ThreadBlocks& thread : trace.threads()) counts.by_slot.push_back(thread.past_events);
  EventStream stream(trace);
  StreamEvent event;
  while (stream.Next(&event)) {
    const bool folded = event.operation == schema::FOLD_ALLOCATE || event.operation == schema::FOLD_FREE;
    counts.by_operation[event.operation][event.shape->kind] += folded ? event.value[0] : 1;
    if (!event.past) ++counts.by_slot[event.slot];
    counts.last_time = std::max(counts.last_time, event.time);
  }
  counts.unreadable = stream.unreadable_events();
  return counts;
}

// CUDA's way to number itself: 12040 is 12.4.
std::string CudaVersion(uint32_t number) { return absl::StrCat(number / 1000, ".", number % 1000 / 10); }

void WriteProcess(const TracedProcess& process, Page* page) {
  std::string number = absl::StrCat(process.pid);
  if (process.parent_pid != 0) absl::StrAppend(&number, ", parent ", process.parent_pid);
  if (process.rank) absl::StrAppend(&number, ", rank ", *process.rank);
  if (!process.host.empty()) absl::StrAppend(&number, ", on ", Printable(process.host));
  InfoRow("process", number, page);
  InfoRow("command", Printable(absl::StrJoin(process.command, " ")), page);
  InfoRow("executable", Printable(process.executable), page);
  InfoRow("folder", Printable(process.working_directory), page);
  InfoRow("run", Printable(process.run_id), page);
  std::vector<std::string> variables;
  for (const auto& [name, value] : process.environment) {
    InfoRow(variables.empty() ? "environment" : "", Printable(absl::StrCat(name, "=", value)), page);
    variables.push_back(name);
  }
  std::vector<std::string> versions;
  if (!process.tracer_version.empty()) versions.push_back("vramtrack " + Printable(process.tracer_version));
  for (const auto& [of, number] : process.versions) {
    versions.push_back(absl::StrCat(of == "driver" ? "CUDA driver" : Printable(of), " ", CudaVersion(number)));
  }
  if (!process.driver_version.empty()) versions.push_back(Printable(process.driver_version));
  InfoRow("versions", absl::StrJoin(versions, ", "), page);
}

void WriteDevices(const Definitions& definitions, Page* page) {
  const char* label = "devices";
  for (const auto& [index, device] : definitions.devices) {
    std::string text = absl::StrCat(index, ": ", device.name.empty() ? "unnamed" : Printable(device.name));
    if (device.total_bytes != 0) absl::StrAppend(&text, ", ", FormatByteCount(static_cast<double>(device.total_bytes)));
    if (device.integrated) absl::StrAppend(&text, ", shared with the host");
    InfoRow(label, text, page);
    label = "";
  }
}

void WriteAllocators(const Definitions& definitions, Page* page) {
  const char* label = "allocators";
  for (const TracedAllocator& allocator : definitions.allocators) {
    InfoRow(
        label,
        absl::StrCat(Printable(allocator.framework), "'s ", Printable(allocator.name), " on device ", allocator.device),
        page);
    label = "";
  }
}

void WriteClock(const Trace& trace, const EventCounts& counts, Page* page) {
  const TickClock& clock = trace.clock();
  uint64_t end = trace.end_ticks() != 0 ? trace.end_ticks() : counts.last_time;
  std::string text = absl::StrCat("for ", FormatSeconds(clock.Seconds(end)));
  if (clock.start_realtime_ns() != 0) {
    absl::Time start = absl::FromUnixNanos(static_cast<int64_t>(clock.start_realtime_ns()));
    text = absl::StrCat(absl::FormatTime("%Y-%m-%d %H:%M:%E3S UTC", start, absl::UTCTimeZone()), ", ", text);
  }
  absl::StrAppend(&text, "; the clock has ", FormatAbout(clock.ticks_per_second()), " ticks a second");
  InfoRow("recorded", text, page);
}

void WriteEvents(const Trace& trace, const EventCounts& counts, Page* page) {
  size_t blocks = 0;
  for (const ThreadBlocks& thread : trace.threads()) blocks += thread.blocks.size();
  std::string text = absl::StrCat(FormatCount(trace.events()), " in ", Plural(blocks, "block", "blocks"));
  if (trace.events() > 0) {
    absl::StrAppend(
        &text, ", ",
        absl::StrFormat("%.2f", static_cast<double>(trace.file_bytes()) / static_cast<double>(trace.events())),
        " bytes of file each");
  }
  InfoRow("events", text, page);
  for (const auto& [operation, kinds] : counts.by_operation) {
    uint64_t all = 0;
    std::vector<std::string> parts;
    for (const auto& [kind, count] : kinds) {
      all += count;
      const std::string name = KindNameOf(operation, kind);
      if (!name.empty()) parts.push_back(absl::StrCat(FormatCount(count), " ", name));
    }
    std::string line = absl::StrCat(PadRight(OperationName(operation), 16), PadLeft(FormatCount(all), 12));
    if (!parts.empty()) absl::StrAppend(&line, "   ", absl::StrJoin(parts, ", "));
    page->Line(CutEnd(line, page->style().columns - kInfoLabelColumns), kInfoLabelColumns);
  }
}

void WriteActivities(const Trace& trace, const EventCounts& counts, Page* page) {
  if (trace.activities().empty()) return;
  ActivityStream stream(trace);
  std::map<uint32_t, uint64_t> kinds;
  uint64_t all = 0, file_bytes = 0, ticks;
  for (ActivityRecord record; stream.Next(&record, &ticks); ++all) ++kinds[record.kind];
  for (const FrameRef& frame : trace.activities()) file_bytes += frame.payload.size();
  std::vector<std::string> parts;
  for (const auto& [kind, count] : kinds) parts.push_back(absl::StrCat(FormatCount(count), " ", ActivityName(kind)));
  std::string text = absl::StrCat(Plural(all, "record", "records"));
  if (!parts.empty()) absl::StrAppend(&text, ": ", absl::StrJoin(parts, ", "));
  if (all > 0) {
    absl::StrAppend(&text, absl::StrFormat("; %.2f bytes of file each",
                                           static_cast<double>(file_bytes) / static_cast<double>(all)));
  }
  InfoRow("CUPTI", absl::StrCat(text, "; its version is ", stream.cupti_version()), page);
  if (const uint64_t dropped = trace.counter(schema::COUNTER_ACTIVITIES_DROPPED)) {
    InfoRow("", Plural(dropped, "record", "records") + " dropped by CUPTI: its buffers were full", page,
            Paint::kWarning);
  }
  if (const uint64_t unwritten = trace.counter(schema::COUNTER_ACTIVITIES_UNWRITTEN)) {
    InfoRow("", Plural(unwritten, "record", "records") + " found no room in the trace", page, Paint::kWarning);
  }
  const uint64_t written = trace.counter(schema::COUNTER_ACTIVITIES);
  if (written > all) {
    InfoRow("", Plural(written - all, "earlier record", "earlier records") + " made room for later ones", page);
  }
  const uint64_t end = trace.end_ticks() != 0 ? trace.end_ticks() : counts.last_time;
  for (const ActivityGap& gap : stream.Gaps(end)) {
    InfoRow("",
            absl::StrCat("none from ", FormatSeconds(trace.clock().Seconds(gap.begin)), " to ",
                         FormatSeconds(trace.clock().Seconds(gap.end)), ": ", Printable(gap.why)),
            page, Paint::kWarning);
  }
}

void WriteWalks(const Trace& trace, Page* page) {
  const HolderWalks walks(trace);
  if (walks.all().empty()) return;
  InfoRow("walks", Plural(walks.all().size(), "walk", "walks") + " through Python's objects", page);
  for (const HolderWalk& walk : walks.all()) {
    std::string text = absl::StrCat(
        walk.number, ": ", HolderMomentText(walk.moment), ", after ",
        FormatSeconds(trace.clock().Seconds(walk.end_ticks)), ", took ",
        FormatSeconds(static_cast<double>(walk.end_ticks - walk.begin_ticks) / trace.clock().ticks_per_second()), ", ",
        Plural(walk.objects, "object", "objects"), ", ", Plural(walk.tensors, "tensor", "tensors"), ", ",
        Plural(walk.blocks.size(), "block", "blocks"));
    if (walk.stopped != schema::HOLDERS_COMPLETE) {
      absl::StrAppend(&text, "; stopped early: ", HolderStopText(walk.stopped));
    } else if (!walk.whole) {
      absl::StrAppend(&text, "; a part of it is missing");
    }
    InfoRow("", text, page, walk.complete() ? Paint::kPlain : Paint::kWarning);
  }
  if (walks.malformed_frames() > 0) {
    InfoRow("", Plural(walks.malformed_frames(), "part", "parts") + " of walks cannot be read", page, Paint::kWarning);
  }
}

void WriteLosses(const Trace& trace, const EventCounts& counts, Page* page) {
  std::vector<std::string> parts;
  if (trace.lost_events() != 0) parts.push_back(Plural(trace.lost_events(), "event", "events"));
  if (counts.unreadable != 0) parts.push_back(Plural(counts.unreadable, "event", "events") + " that cannot be read");
  if (trace.lost_bytes() != 0)
    parts.push_back(FormatByteCount(static_cast<double>(trace.lost_bytes())) + " of the file");
  InfoRow("lost", parts.empty() ? "nothing" : absl::StrJoin(parts, ", "), page,
          parts.empty() ? Paint::kPlain : Paint::kWarning);
  if (uint64_t nested = trace.counter(schema::COUNTER_NESTED_CALLS)) {
    InfoRow("", Plural(nested, "call", "calls") + " in signal handlers that interrupted the recorder were not recorded",
            page);
  }
  if (uint64_t full = trace.counter(schema::COUNTER_TABLE_FULL)) {
    InfoRow("", Plural(full, "allocation", "allocations") + " whose frees are not known: too many were live", page);
  }
  if (trace.past() != nullptr) {
    const uint64_t pairs = trace.counter(schema::COUNTER_FOLDED_PAIRS);
    InfoRow("folded",
            absl::StrCat(Plural(pairs, "allocation", "allocations"),
                         " that were freed are kept as sums (VRAMTRACK_MAX_BYTES), their times to ",
                         FormatSeconds(std::ldexp(1, static_cast<int>(trace.past()->bin_shift)) /
                                       trace.clock().ticks_per_second())),
            page);
  }
  const std::vector<Damage>& damage = trace.damage();
  for (size_t i = 0; i < damage.size() && i < kMostDamageLines; ++i) {
    InfoRow(i == 0 ? "damage" : "",
            absl::StrCat("at offset ", damage[i].offset, ": ", Plural(damage[i].bytes, "byte", "bytes"), ", ",
                         Printable(damage[i].reason)),
            page, Paint::kWarning);
  }
  if (damage.size() > kMostDamageLines)
    InfoRow("", absl::StrCat("and ", damage.size() - kMostDamageLines, " more"), page);
}

void WriteUnseen(const TracedProcess& process, Page* page) {
  const char* label = "unseen";
  for (const auto& [name, reason] : process.unseen) {
    InfoRow(label, Printable(name) + " " + UnseenText(reason), page, Paint::kWarning);
    label = "";
  }
}

void WriteThreads(const Trace& trace, const EventCounts& counts, size_t most, Page* page) {
  const char* label = "threads";
  size_t shown = 0;
  for (const ThreadSlot slot : trace.threads().indices()) {
    if (++shown > most) continue;
    uint32_t index = trace.threads()[slot].thread;
    std::string text = absl::StrCat(index, ": ");
    auto thread = trace.definitions().threads.find(index);
    if (thread != trace.definitions().threads.end()) {
      absl::StrAppend(&text, Printable(thread->second.name), " (tid ", thread->second.tid, "), ");
    }
    InfoRow(label, text + Plural(counts.by_slot[slot], "event", "events"), page);
    label = "";
  }
  if (shown > most) InfoRow("", absl::StrCat("and ", shown - most, " more"), page);
}

// How the tracer came by its stacks.
void WriteCaptures(const Trace& trace, Page* page) {
  const auto sum = [&](schema::Counter first, schema::Counter last) {
    uint64_t all = 0;
    for (uint32_t i = first; i <= last; ++i) all += trace.counter(static_cast<schema::Counter>(i));
    return all;
  };
  const uint64_t guesses = sum(schema::COUNTER_STACK_FIRST_GUESSES, schema::COUNTER_STACK_LATER_GUESSES);
  const uint64_t walks = sum(schema::COUNTER_STACK_WALKS, schema::COUNTER_STACK_FOREIGN_WALKS);
  const uint64_t steps = sum(schema::COUNTER_STACK_SIGNAL_FRAMES, schema::COUNTER_STACK_MODULE_CHANGES);
  if (guesses + walks + steps == 0) return;
  std::string text =
      absl::StrCat(FormatCount(guesses), " guessed, ", FormatCount(walks), " walked, ", FormatCount(steps), " unwound");
  if (const uint64_t cut = trace.counter(schema::COUNTER_STACK_WITHOUT_INFO)) {
    absl::StrAppend(&text, "; ", FormatCount(cut), " end at code without unwind information");
  }
  InfoRow("captures", text, page);
}

void WriteModules(const Definitions& definitions, const std::vector<std::string>& search_paths, Page* page) {
  size_t all = 0, with_python = 0, with_forward = 0, truncated = 0;
  for (const StackIndex index : definitions.stacks.distinct()) {
    if (index == kEmptyStack || definitions.stacks.IsPart(index)) continue;
    const JoinedStackRef stack = definitions.stacks.Get(index);
    ++all;
    with_python += stack.python.count > 0;
    with_forward += stack.forward.count > 0;
    truncated += stack.truncated();
  }
  std::string text = FormatCount(all);
  if (with_python > 0) absl::StrAppend(&text, ", ", FormatCount(with_python), " with Python frames");
  if (with_forward > 0) absl::StrAppend(&text, ", ", FormatCount(with_forward), " with those of the forward pass");
  if (truncated > 0) absl::StrAppend(&text, ", ", FormatCount(truncated), " of them cut");
  InfoRow("stacks", text, page);

  std::vector<ModuleStatus> modules = TracedFrames(definitions, search_paths).ModulesOnStacks();
  size_t with_lines = 0, functions_only = 0;
  for (const ModuleStatus& module : modules) {
    with_lines += module.state == ModuleState::kFound;
    functions_only += module.state == ModuleState::kNoDebugInfo;
  }
  InfoRow("modules",
          absl::StrCat(definitions.modules.modules().size(), " loaded, ", modules.size(), " on stacks: ", with_lines,
                       " with lines, ", functions_only, " with functions only, ",
                       modules.size() - with_lines - functions_only, " without either"),
          page);
  for (const ModuleStatus& module : modules) {
    if (module.state == ModuleState::kFound || module.state == ModuleState::kNoDebugInfo) continue;
    if (module.state == ModuleState::kNotAFile) continue;
    InfoRow("", absl::StrCat(ModuleStateName(module.state), ": ", Printable(module.path)), page, Paint::kWarning);
  }
}

void WriteInfo(const Trace& trace, const std::vector<std::string>& search_paths, Page* page) {
  EventCounts counts = Count(trace);
  page->Section(absl::StrCat(Printable(trace.path()), ", ", FormatByteCount(static_cast<double>(trace.file_bytes()))));
  WriteProcess(trace.definitions().process, page);
  WriteDevices(trace.definitions(), page);
  WriteAllocators(trace.definitions(), page);
  WriteClock(trace, counts, page);
  std::string why = trace.IncompleteWhy();
  if (const double joined = trace.definitions().process.joined_after_s; joined > 0) {
    InfoRow("joined", absl::StrCat(FormatSeconds(joined), " after its start; what it did before is unknown"), page);
  }
  InfoRow("complete", why.empty() ? "yes" : "no: " + Printable(why), page,
          why.empty() ? Paint::kPlain : Paint::kWarning);
  WriteEvents(trace, counts, page);
  WriteActivities(trace, counts, page);
  WriteWalks(trace, page);
  WriteLosses(trace, counts, page);
  WriteUnseen(trace.definitions().process, page);
  WriteThreads(trace, counts, 16, page);
  WriteCaptures(trace, page);
  WriteModules(trace.definitions(), search_paths, page);
}

}  // namespace

int InfoCommand(const Arguments& arguments) {
  std::vector<std::string> traces;
  bool paths = false;
  AnalysisOptions options;
  CommandParser parser("info [OPTION...] TRACE...",
                       "Show what a trace contains and how complete it is: process, environment, events by operation, "
                       "losses, threads and modules.");
  parser.Positional("TRACE", &traces);
  parser.Flag("--paths", &paths, "print only the paths of the traces that TRACE stands for, one per line");
  AddInput(&parser, &options);
  if (const auto code = parser.Parse(arguments)) return *code;

  const TraceChoice choice = ChooseAndSay(traces, options.all_runs);
  if (paths) return Print(absl::StrJoin(choice.paths, "\n") + "\n");
  int bad = 0;
  Page page(DetectStyle(STDOUT_FILENO, ColorMode::kAuto));
  for (const std::string& path : choice.paths) {
    // Where one cannot be read, the others of the job are still worth to be seen.
    try {
      if (IsSummaryFile(path)) {
        WriteSummaryInfo(path, &page);
        continue;
      }
      const std::unique_ptr<Trace> trace = OrFail(Trace::Open(path));
      const Progress progress("reading " + path);
      WriteInfo(*trace, options.analyze.symbols.search.search_paths, &page);
    } catch (const CommandFailure& failure) {
      bad = BadInput(failure.line);
    }
  }
  const int code = Print(page.text());
  return code != 0 ? code : bad;
}

}  // namespace vramtrack
