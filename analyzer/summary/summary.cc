// SPDX-License-Identifier: Apache-2.0
#include "analyzer/summary/summary.h"

#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <iterator>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "analyzer/base/gzip.h"
#include "analyzer/base/input_file.h"
#include "analyzer/model/process_findings.h"
#include "analyzer/model/site_references.h"
#include "analyzer/profile/step_profile.h"
#include "analyzer/summary/process_summary.h"
#include "analyzer/summary/summary_fields.h"
#include "analyzer/summary/summary_reader.h"
#include "analyzer/summary/summary_writer.h"
#include "proto/pbf_reader.h"

namespace vramtrack {
namespace {

void Require(bool is_so) {
  if (!is_so) throw std::runtime_error("it contradicts itself");
}

class Checker {
 public:
  explicit Checker(const ProcessFindings& findings) : findings_(findings) {}

  void Run() const {
    ForEachSiteReference(const_cast<ProcessFindings&>(findings_),
                         [this](ReportSiteIndex* site) { Require(site->value() < findings_.sites.size()); });
    for (const ReportSite& site : findings_.sites) Check(site);
    for (const ReportTimeline& timeline : findings_.timeline) Check(timeline);
    for (const ReportPeakStacks& stacks : findings_.peak_stacks) Check(stacks);
  }

 private:
  void Check(const ReportSite& site) const {
    Require(site.frames.empty() ? site.blame_frame == 0 : site.blame_frame < site.frames.size());
    Require(!site.own_frame || *site.own_frame < site.frames.size());
    if (!site.kept) return;
    Require(site.kept->bytes.size() == site.kept->step.size() && site.kept->objects.size() == site.kept->step.size());
    Require(site.kept->fit.empty() || site.kept->fit.size() == 2);
  }

  static void Check(const ReportTimeline::Series& series, size_t bins) {
    Require(series.low.size() == bins && series.high.size() == bins);
  }

  void Check(const ReportComposition& composition, size_t bins) const {
    const bool empty = composition.categories.empty() && composition.sites.empty() && composition.other_sites.empty();
    if (empty) return;
    Require(composition.other_sites.size() == bins);
    for (const auto& [name, bytes] : composition.categories) Require(bytes.size() == bins);
    for (const auto& [site, bytes] : composition.sites) Require(bytes.size() == bins);
  }

  void Check(const ReportTimeline& timeline) const {
    const size_t bins = timeline.position.size();
    Check(timeline.device_used, bins);
    Check(timeline.reserved, bins);
    Check(timeline.live, bins);
    for (const auto& [name, series] : timeline.categories) Check(series, bins);
    Check(timeline.at_high, bins);
    if (timeline.within_steps) {
      const size_t rows = timeline.within_steps->position.size();
      Require(timeline.within_steps->low.size() == rows && timeline.within_steps->high.size() == rows);
    }
    if (!timeline.peak_step) return;
    const ReportPeakStep& step = *timeline.peak_step;
    Require(step.seconds.size() == step.event.size() && step.live.size() == step.event.size());
    Check(step.consists_of, step.event.size());
  }

  void Check(const ReportPeakStacks& stacks) const {
    for (size_t i = 0; i < stacks.nodes.size(); ++i) {
      const ReportPeakStacks::Node& node = stacks.nodes[i];
      Require(!node.parent || *node.parent < i);
      Require(!node.site.is_none() && node.frame < findings_.sites[node.site.value()].frames.size());
    }
  }

  const ProcessFindings& findings_;
};

// Throws std::runtime_error if an index is out of range or columns differ in length. Code that joins and renders
// findings relies on both, and a summary may come from anywhere.
void CheckFindings(const ProcessFindings& findings) { Checker(findings).Run(); }

using RecordWithIdentity = std::pair<ProcessIdentity, SummaryRecord>;

// More processes than that are kept in less detail.
constexpr size_t kMostFull = 16, kMostJob = 1024;
constexpr size_t kMostLacks = 100;
// The largest size of a summary after decompression. Summaries of one process are 2 to 10 times their compressed size.
// The worst legitimate case is a fleet whose records differ only in their identity: up to 95 times.
constexpr uint64_t kMostUnpacked = 128, kMostUnpackedOfSmall = 16 << 20;
constexpr uint64_t kMostOfDeflate = 1100;
constexpr size_t kHeadBytes = 4096;  // unpacked, the field that names the format is within

Detail DetailFor(size_t processes) {
  return processes <= kMostFull ? Detail::kFull : processes <= kMostJob ? Detail::kJob : Detail::kFleet;
}

// Of two records of one process the one that stays.
bool Beats(const SummaryRecord& a, const SummaryRecord& b) {
  if (a.events != b.events) return a.events > b.events;
  if (a.content != b.content) return a.content > b.content;
  return a.detail < b.detail;
}

void Encode(const ProcessSummary& process, StackTable* table, SummaryRecord* record) {
  RecordStacks stacks(table);
  record->body = SummaryWriter::Encode(process, &stacks);
  record->stacks = stacks.keys();
}

RecordWithIdentity DecodeRecord(std::string_view message, const StackTable& stacks) {
  RecordWithIdentity decoded;
  SummaryReader::Decode(message, RecordStacks(stacks, {}), &decoded);
  if (decoded.second.content.size() != kStackKeyBytes) throw std::runtime_error("a process has no content");
  for (const StackKey& key : decoded.second.stacks) {
    if (!stacks.Has(key)) throw std::runtime_error("a stack is missing");
  }
  return decoded;
}

}  // namespace

void Summary::Add(const ProcessSummary& process) {
  SummaryRecord record;
  record.events = process.findings.process.events;
  record.tool_version = process.tool_version;
  Encode(process, &stacks_, &record);
  std::string whole = record.body;
  for (const StackKey& key : record.stacks) whole += key;
  record.content = Hash128(whole);
  Put(process.identity, std::move(record), stacks_);
}

void Summary::Put(const ProcessIdentity& identity, SummaryRecord record, const StackTable& stacks) {
  const auto [found, is_new] = records_.try_emplace(identity);
  if (!is_new && !Beats(record, found->second)) return;
  if (&stacks != &stacks_) {
    for (const StackKey& key : record.stacks) stacks_.Copy(stacks, key);
  }
  found->second = std::move(record);
  not_reduced_.push_back(identity);
}

void Summary::Join(const Summary& other) {
  if (records_.empty()) name_ = other.name_;
  if (name_ != other.name_) name_.clear();
  for (const auto& [identity, record] : other.records_) Put(identity, record, other.stacks_);
  for (const std::string& line : other.lacks_) AddLack(line);
  lacks_more_ |= other.lacks_more_;
}

void Summary::AddLack(std::string line) {
  lacks_.insert(std::move(line));
  if (lacks_.size() <= kMostLacks) return;
  lacks_.erase(std::prev(lacks_.end()));
  lacks_more_ = true;
}

std::vector<std::string> Summary::Lacks() const {
  std::vector<std::string> lines(lacks_.begin(), lacks_.end());
  if (lacks_more_) lines.emplace_back("left out: other files, not recorded");
  return lines;
}

void Summary::Reduce(Detail least) {
  const Detail detail = std::max(least, DetailFor(records_.size()));
  if (detail > reduced_to_) {
    for (auto& [identity, record] : records_) ReduceRecord(identity, detail, &record);
  } else {
    for (const ProcessIdentity& identity : not_reduced_) ReduceRecord(identity, detail, &records_[identity]);
  }
  not_reduced_.clear();
  reduced_to_ = detail;
}

void Summary::ReduceRecord(const ProcessIdentity& identity, Detail detail, SummaryRecord* record) {
  if (record->detail >= detail) return;
  absl::StatusOr<ProcessSummary> process = Decode(identity, *record);
  record->detail = detail;
  if (!process.ok()) return;  // the reader of the summary gets the error
  ReduceTo(detail, &*process);
  Encode(*process, &stacks_, record);
}

absl::StatusOr<ProcessSummary> Summary::Decode(const ProcessIdentity& identity, const SummaryRecord& record) const {
  ProcessSummary process;
  process.identity = identity;
  process.tool_version = record.tool_version;
  try {
    SummaryReader::Decode(record.body, RecordStacks(stacks_, record.stacks), &process);
    CheckFindings(process.findings);
    CheckProfile(process.profile);
  } catch (const std::exception& error) {
    return absl::DataLossError(absl::StrCat(name_, name_.empty() ? "" : ": ", "process ", identity.pid, " on ",
                                            identity.host, ": ", error.what()));
  }
  return process;
}

std::string Summary::Write() const {
  std::string message;
  protozero::pbf_writer writer(message);
  writer.add_string(kSummaryFormatField, kSummaryFormat);
  writer.add_uint64(kSummaryVersionField, kSummaryVersion);
  writer.add_uint64(kSummaryProcesses, records_.size());
  for (const std::string& line : lacks_) writer.add_string(kSummaryLack, line);
  if (lacks_more_) writer.add_bool(kSummaryLacksMore, true);
  StackTable needed;
  for (const auto& [identity, record] : records_) {
    for (const StackKey& key : record.stacks) needed.Copy(stacks_, key);
  }
  needed.AppendTo(&message);
  for (const auto& [identity, record] : records_) {
    RecordStacks none(&needed);
    writer.add_string(kSummaryRecord, SummaryWriter::Encode(RecordWithIdentity(identity, record), &none));
  }
  return Gzip(message);
}

absl::StatusOr<Summary> Summary::Read(std::string_view bytes, const std::string& name, std::string* damage) {
  damage->clear();
  const absl::Status no_summary = absl::InvalidArgumentError(absl::StrCat(name, ": not a vramtrack summary"));
  // Before room is made for all of it.
  if (!absl::StrContains(Gunzip(bytes.substr(0, kHeadBytes), kHeadBytes * kMostOfDeflate).bytes, kSummaryFormat)) {
    return no_summary;
  }
  const Gunzipped unpacked = Gunzip(bytes, kMostUnpackedOfSmall + kMostUnpacked * bytes.size());
  if (unpacked.too_large) {
    return absl::InvalidArgumentError(absl::StrCat(name, ": unpacked, it has more than ", kMostUnpacked, " times its ",
                                                   bytes.size(), " bytes: not a vramtrack summary"));
  }
  Summary summary;
  summary.name_ = name;
  uint64_t processes = 0;
  bool is_summary = false;
  std::string broken;
  try {
    protozero::pbf_reader reader(unpacked.bytes.data(), unpacked.bytes.size());
    while (reader.next()) {
      const uint32_t field = reader.tag();
      if (field == kSummaryFormatField) {
        is_summary = reader.get_string() == kSummaryFormat;
      } else if (!is_summary) {
        break;
      } else if (field == kSummaryVersionField) {
        const uint64_t version = reader.get_uint64();
        if (version > kSummaryVersion) {
          return absl::UnimplementedError(absl::StrCat(name, ": a summary of version ", version,
                                                       ", this program reads ", kSummaryVersion, ": use a newer one"));
        }
        if (version < kSummaryVersion) {
          return absl::UnimplementedError(absl::StrCat(name,
                                                       ": a summary of an older version, without the reasons of "
                                                       "its answer: summarize the traces again"));
        }
      } else if (field == kSummaryProcesses) {
        processes = reader.get_uint64();
      } else if (field == kSummaryLack) {
        summary.AddLack(reader.get_string());
      } else if (field == kSummaryLacksMore) {
        summary.lacks_more_ |= reader.get_bool();
      } else if (field == kSummaryFrame || field == kSummaryStack || field == kSummaryRecord) {
        const protozero::data_view view = reader.get_view();
        const std::string_view part(view.data(), view.size());
        if (field == kSummaryFrame) {
          summary.stacks_.AddFrame(part);
        } else if (field == kSummaryStack) {
          summary.stacks_.AddStack(part);
        } else {
          RecordWithIdentity record = DecodeRecord(part, summary.stacks_);
          summary.Put(record.first, std::move(record.second), summary.stacks_);
        }
      } else {
        reader.skip();
      }
    }
  } catch (const std::exception& error) {
    broken = error.what();
  }
  if (!is_summary) return no_summary;
  if (broken.empty() && unpacked.complete && summary.records_.size() == processes) return summary;
  const std::string how = unpacked.complete
                              ? absl::StrCat("damaged (", broken.empty() ? "processes are missing" : broken, ")")
                              : absl::StrCat("cut short or damaged within ", bytes.size(), " bytes");
  if (summary.records_.empty()) return absl::DataLossError(absl::StrCat(name, ": ", how, ": summarize it again"));
  *damage = absl::StrCat(name, ": ", how, ": ", summary.records_.size(), " of its ", processes, " processes are there");
  return summary;
}

namespace {

// By the first bytes, those of gzip.
bool IsSummary(std::string_view beginning) { return beginning.substr(0, 2) == "\x1f\x8b"; }

// That of a fleet of a million processes is a tenth of it.
constexpr uint64_t kMostBytes = uint64_t{16} << 30;

}  // namespace

bool IsSummaryFile(const std::string& path) {
  const absl::StatusOr<InputFile> file = InputFile::Open(path);
  char beginning[2] = {};
  return file.ok() && read(file->fd(), beginning, sizeof beginning) == sizeof beginning &&
         IsSummary({beginning, sizeof beginning});
}

absl::StatusOr<Summary> ReadSummaryFile(const std::string& path, std::string* damage) {
  const absl::StatusOr<std::string> bytes = ReadInputFile(path, kMostBytes);
  if (!bytes.ok()) return bytes.status();
  if (!IsSummary(*bytes)) return absl::InvalidArgumentError(absl::StrCat(path, ": not a vramtrack summary"));
  return Summary::Read(*bytes, path, damage);
}

}  // namespace vramtrack
