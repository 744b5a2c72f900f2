// SPDX-License-Identifier: Apache-2.0
#include "analyzer/render/text/sections.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "analyzer/base/display_text.h"
#include "analyzer/base/quantity.h"
#include "analyzer/render/text/page.h"
#include "analyzer/render/words/answer_words.h"

namespace vramtrack {
namespace {

constexpr size_t kProcesses = 4;  // of more only those have lines of which something is missing

std::string State(const ReportProcess& process) {
  if (process.complete) return "complete";
  return process.incomplete_why.empty() ? "not complete" : Printable(process.incomplete_why);
}

std::string Extent(const ReportProcess& process) {
  std::string text = absl::StrCat(Plural(process.events, "event", "events"), " in ", FormatSeconds(process.duration_s));
  if (process.lost_events != 0) absl::StrAppend(&text, ", ", FormatCount(process.lost_events), " lost");
  if (process.joined_after_s > 0) {
    absl::StrAppend(&text, "; joined ", FormatSeconds(process.joined_after_s),
                    " after its start, so what it allocated before is unknown");
  }
  return text;
}

std::string Name(const ReportProcess& process, int columns) {
  std::string name = process.rank ? absl::StrCat("rank ", *process.rank, ", ") : "";
  // Which one, its definitions say, and those may be lost.
  absl::StrAppend(&name, process.pid != 0 ? absl::StrCat("process ", process.pid) : "an unknown process");
  if (!process.command.empty())
    absl::StrAppend(&name, ", ", CutEnd(Printable(absl::StrJoin(process.command, " ")), columns));
  return name;
}

// What CUPTI's records add.
std::vector<std::string> ActivityLines(const ReportActivities& activities) {
  std::vector<std::string> lines;
  std::string text = absl::StrCat("CUPTI: ", Plural(activities.records, "record", "records"), "; ",
                                  Plural(activities.joined, "allocation was", "allocations were"), " hooked as well");
  if (activities.other_sizes != 0) {
    absl::StrAppend(&text, ", ", FormatCount(activities.other_sizes), " of another size");
  }
  if (activities.dropped != 0) absl::StrAppend(&text, "; CUPTI dropped ", FormatCount(activities.dropped));
  if (activities.unwritten != 0)
    absl::StrAppend(&text, "; ", FormatCount(activities.unwritten), " dropped because the buffer was full");
  lines.push_back(std::move(text));
  for (const ReportActivities::OnlyCupti& only : activities.only_cupti) {
    lines.push_back(absl::StrCat("only CUPTI saw ", Plural(only.allocations, "allocation", "allocations"), " (",
                                 only.kind, ") of ",
                                 only.library.empty() ? "an unknown library" : Printable(only.library), " on device ",
                                 only.device, ", ", FormatByteCount(static_cast<double>(only.bytes)),
                                 "; live at the end: ", FormatByteCount(static_cast<double>(only.live_bytes))));
  }
  for (const ReportActivities::OnlyHooks& only : activities.only_hooks) {
    lines.push_back(absl::StrCat("only hooks saw ", Plural(only.allocations, "allocation", "allocations"), " (",
                                 Printable(only.kind), "), ", FormatByteCount(static_cast<double>(only.bytes)),
                                 only.reported ? "" : ": this CUPTI does not report that kind"));
  }
  for (const ReportActivities::Missing& missing : activities.missing) {
    lines.push_back(absl::StrCat("no CUPTI from ", FormatSeconds(missing.from_s), " to ", FormatSeconds(missing.to_s),
                                 ": ", Printable(missing.why)));
  }
  return lines;
}

// Nothing is missing of it.
bool IsWell(const ReportProcess& process) {
  if (!process.complete) return false;
  if (!process.activities) return true;
  const ReportActivities& activities = *process.activities;
  return activities.dropped == 0 && activities.unwritten == 0 && activities.missing.empty();
}

// Those of a large job of which there is nothing to say.
std::string Together(const std::vector<const ReportProcess*>& processes, bool all) {
  uint64_t events = 0;
  double shortest = processes[0]->duration_s, longest = shortest;
  for (const ReportProcess* process : processes) {
    events += process->events;
    shortest = std::min(shortest, process->duration_s);
    longest = std::max(longest, process->duration_s);
  }
  const std::string low = FormatSeconds(shortest), high = FormatSeconds(longest);
  return absl::StrCat(all ? "all " : "", FormatCount(processes.size()), all ? "" : " more", " processes complete; ",
                      Plural(events, "event", "events"), " in all, in ",
                      low == high ? low : absl::StrCat(low, " to ", high), " each");
}

// What looking for holders has cost the job: "; 2 walks, 0.2 s". Empty without walks.
std::string WalksText(const Report& report) {
  if (report.walks.empty()) return "";
  double seconds = 0;
  for (const ReportWalk& walk : report.walks) seconds += walk.duration_s;
  return absl::StrCat("; ", Plural(report.walks.size(), "walk", "walks"), ", ", FormatSeconds(seconds));
}

void WriteProcesses(const Report& report, size_t most, Page* page) {
  const bool many = report.processes.size() > kProcesses;
  if (many) most = std::min(most, kProcesses);
  std::vector<const ReportProcess*> told, others;
  for (const ReportProcess& process : report.processes) (many && IsWell(process) ? others : told).push_back(&process);
  std::stable_partition(told.begin(), told.end(), [](const ReportProcess* p) { return !p->complete; });
  for (size_t i = 0; i < told.size() && i < most; ++i) {
    const ReportProcess& process = *told[i];
    page->Words(absl::StrCat(State(process), "; ", Extent(process)), kSectionIndent,
                process.complete ? Paint::kPlain : Paint::kWarning);
    page->Line(Painted(page->style(), Paint::kDim,
                       CutEnd(Name(process, page->style().columns), page->style().columns - kSectionIndent)),
               kSectionIndent);
    if (!process.activities) continue;
    for (const std::string& line : ActivityLines(*process.activities)) page->Words(line, kSectionIndent);
  }
  if (told.size() > most) {
    const auto incomplete = std::count_if(told.begin() + static_cast<std::ptrdiff_t>(most), told.end(),
                                          [](const ReportProcess* process) { return !process->complete; });
    page->Line(absl::StrCat("and ", FormatCount(told.size() - most), " more processes",
                            incomplete > 0 ? absl::StrCat(", ", FormatCount(static_cast<uint64_t>(incomplete)),
                                                          " of them not complete")
                                           : ""),
               kSectionIndent);
  }
  if (!others.empty()) page->Words(Together(others, told.empty()), kSectionIndent);
  page->Words(absl::StrCat(StepsText(report.steps), WalksText(report)), kSectionIndent);
}

void WriteInShort(const Report& report, Page* page) {
  auto incomplete = std::count_if(report.processes.begin(), report.processes.end(),
                                  [](const ReportProcess& process) { return !process.complete; });
  std::string text;
  if (report.processes.size() == 1) {
    text = absl::StrCat(State(report.processes[0]), "; ", Extent(report.processes[0]), ", ", StepsText(report.steps));
  } else {
    text = absl::StrCat(FormatCount(report.processes.size()), " processes, ",
                        incomplete == 0 ? "all complete" : FormatCount(incomplete) + " not complete", "; ",
                        StepsText(report.steps));
  }
  page->Words(absl::StrCat("The trace: ", text, WalksText(report)), 0,
              incomplete == 0 ? Paint::kPlain : Paint::kWarning);
}

}  // namespace

void WriteTrace(const TextView& view) {
  const Report& report = view.report;
  Page* const page = view.page;
  const bool whole = view.options.Whole("trace");
  if (whole) {
    page->Section("The trace");
    WriteProcesses(report, view.options.top, page);
  } else {
    WriteInShort(report, page);
  }
  size_t left = whole ? SIZE_MAX : view.options.top;
  for (const std::string& warning : report.warnings) {
    if (warning == report.left_out || left == 0) continue;  // the first is at the top
    --left;
    page->Words("warning: " + Printable(warning), kSectionIndent, Paint::kWarning);
  }
}

}  // namespace vramtrack
