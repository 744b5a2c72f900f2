// SPDX-License-Identifier: Apache-2.0
#include "analyzer/cli/summary_info.h"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <set>
#include <system_error>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/time.h"
#include "analyzer/base/display_text.h"
#include "analyzer/base/quantity.h"
#include "analyzer/cli/output.h"
#include "analyzer/cli/trace_text.h"
#include "analyzer/summary/summary.h"

namespace vramtrack {
namespace {

// Of more processes only those are shown that are not complete.
constexpr size_t kMostProcesses = 32;

const char* DetailName(Detail detail) {
  return detail == Detail::kFull ? "full" : detail == Detail::kJob ? "job" : "fleet";
}

void WriteProcess(const ProcessIdentity& identity, const ProcessSummary& process, Page* page) {
  const ReportProcess& found = process.findings.process;
  std::string number = absl::StrCat(identity.pid);
  if (found.rank) absl::StrAppend(&number, ", rank ", *found.rank);
  if (!identity.host.empty()) absl::StrAppend(&number, ", on ", Printable(identity.host));
  absl::StrAppend(&number, ": ", Printable(absl::StrJoin(found.command, " ")));
  InfoRow("process", number, page);
  std::string text = absl::StrCat("for ", FormatSeconds(found.duration_s));
  if (identity.start_unix_ns != 0) {
    const absl::Time start = absl::FromUnixNanos(static_cast<int64_t>(identity.start_unix_ns));
    text = absl::StrCat(absl::FormatTime("%Y-%m-%d %H:%M:%E3S UTC", start, absl::UTCTimeZone()), ", ", text);
  }
  absl::StrAppend(&text, ", ", FormatCount(found.events), " events, ", FormatCount(process.findings.steps.count), " ",
                  NameOf(process.findings.steps.unit), process.findings.steps.count == 1 ? "" : "s");
  InfoRow("", text, page);
  if (!found.complete) InfoRow("", "incomplete: " + Printable(found.incomplete_why), page, Paint::kWarning);
}

}  // namespace

void WriteSummaryInfo(const std::string& path, Page* page) {
  std::string damage;
  const Summary summary = OrFail(ReadSummaryFile(path, &damage));
  std::error_code error;
  const auto bytes = std::filesystem::file_size(path, error);
  page->Section(absl::StrCat(Printable(path), ", ", FormatByteCount(static_cast<double>(error ? 0 : bytes))));
  std::set<std::string> hosts, details, versions;
  std::set<StackKey> stacks;
  uint64_t events = 0, incomplete = 0;
  for (const auto& [identity, record] : summary.records()) {
    hosts.insert(identity.host);
    details.insert(DetailName(record.detail));
    versions.insert(Printable(record.tool_version));
    stacks.insert(record.stacks.begin(), record.stacks.end());
    events += record.events;
  }
  const size_t processes = summary.records().size();
  InfoRow("summary",
          absl::StrCat("of ", Plural(processes, "process", "processes"), " on ", Plural(hosts.size(), "host", "hosts"),
                       ", detail ", absl::StrJoin(details, " and ")),
          page);
  InfoRow("made by", "vramtrack " + absl::StrJoin(versions, ", "), page);
  InfoRow("events", FormatCount(events) + " in the traces", page);
  InfoRow("stacks", FormatCount(stacks.size()), page);
  if (!damage.empty()) InfoRow("damage", Printable(damage), page, Paint::kWarning);
  for (const std::string& line : summary.Lacks()) InfoRow("lacks", Printable(line), page, Paint::kWarning);
  for (const auto& [identity, record] : summary.records()) {
    const absl::StatusOr<ProcessSummary> process = summary.Decode(identity, record);
    if (!process.ok()) {
      InfoRow("damage", Printable(std::string(process.status().message())), page, Paint::kWarning);
      continue;
    }
    incomplete += !process->findings.process.complete;
    if (processes <= kMostProcesses || !process->findings.process.complete) WriteProcess(identity, *process, page);
  }
  if (processes > kMostProcesses) {
    InfoRow("", absl::StrCat(FormatCount(processes - incomplete), " further processes, which are complete"), page);
  }
}

}  // namespace vramtrack
