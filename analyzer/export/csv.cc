// SPDX-License-Identifier: Apache-2.0
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "analyzer/export/frame_names.h"
#include "analyzer/export/stack_exporters.h"

namespace vramtrack {
namespace {

std::string Quoted(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  return absl::StrCat("\"", absl::StrReplaceAll(text, {{"\"", "\"\""}}), "\"");
}

class Csv final : public Exporter {
 public:
  explicit Csv(ExportSink sink) : sink_(std::move(sink)) {
    sink_(
        "pid,rank,device,level,kind,category,owner,verdict,alloc_objects,alloc_bytes,inuse_objects,inuse_bytes,"
        "function,file,line,stack\r\n");
  }

  absl::Status Add(ExportedProcess& process) override {
    const TracedProcess& traced = process.trace().definitions().process;
    const std::string rank = traced.rank ? absl::StrCat(*traced.rank) : "";
    for (const ExportedSite& site : process.sites()) {
      const std::vector<ReportFrame> frames = process.Frames(site.stack);
      const ReportFrame none;
      const ReportFrame& named = frames.empty() ? none : frames[NamingFrame(frames, 0)];
      std::string stack;
      for (const ReportFrame& frame : frames) absl::StrAppend(&stack, stack.empty() ? "" : ";", FrameLabel(frame));
      std::string row = absl::StrCat(traced.pid, ",", rank, ",", site.device, ",", site.level, ",", site.kind, ",");
      absl::StrAppend(&row, site.category, ",", Quoted(site.owner), ",", site.verdict, ",");
      absl::StrAppend(&row, site.counts.alloc_objects, ",", site.counts.alloc_bytes, ",");
      absl::StrAppend(&row, site.counts.inuse_objects, ",", site.counts.inuse_bytes, ",");
      absl::StrAppend(&row, Quoted(named.function), ",", Quoted(FileOf(named)), ",", named.line, ",");
      absl::StrAppend(&row, Quoted(stack), "\r\n");
      if (!sink_(row)) break;
    }
    return absl::OkStatus();
  }

 private:
  ExportSink sink_;
};

}  // namespace

std::unique_ptr<Exporter> MakeCsv(const ExportOptions& /*options*/, ExportSink sink) {
  return std::make_unique<Csv>(std::move(sink));
}

}  // namespace vramtrack
