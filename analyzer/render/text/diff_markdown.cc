// SPDX-License-Identifier: Apache-2.0
#include "analyzer/render/text/diff_text.h"

#include "absl/strings/str_cat.h"
#include "analyzer/base/display_text.h"
#include "analyzer/base/quantity.h"
#include "analyzer/model/frame_text.h"
#include "analyzer/render/text/page.h"

namespace vramtrack {
namespace {

// Text from a trace, as it is and nothing more: no link, no mention, no table of its own.
std::string Escaped(const std::string& text) {
  std::string escaped;
  for (const char c : Printable(text)) {
    if (std::string_view("\\`*_{}[]<>#|@&~!$").find(c) != std::string_view::npos) escaped += '\\';
    escaped += c;
  }
  return escaped;
}

void WriteValue(const std::string& name, const DiffValue& value, const std::string& unit, std::string* text) {
  if (value.base == 0 && value.next == 0) return;
  const char* mark = value.significant ? "**" : "";
  absl::StrAppend(text, "| ", Escaped(name), " | ", FormatByteCount(value.base), unit, " | ",
                  FormatByteCount(value.next), unit, " | ", mark,
                  value.delta() == 0 ? "same" : SignedBytes(value.delta()), mark, " |\n");
}

void WriteDevices(const DiffReport& report, std::string* text) {
  for (const DiffDevice& device : report.devices) {
    absl::StrAppend(text, "\n| device ", device.index, " | base | new | difference |\n|---|--:|--:|--:|\n");
    WriteValue("peak", device.peak, "", text);
    WriteValue("reserved", device.reserved_peak, "", text);
    WriteValue("fragmentation", device.fragmentation, "", text);
    WriteValue("growth", device.growth, absl::StrCat(" per ", NameOf(report.rate_unit)), text);
    if (device.categories.size() < 2) continue;
    for (const auto& [name, value] : device.categories) WriteValue(name + " at the peak", value, "", text);
  }
}

void WriteFindings(const DiffReport& report, size_t top, std::string* text) {
  for (const DiffSection& section : SectionsOf(report)) {
    absl::StrAppend(text, "\n| ", section.title, " | |\n|---|---|\n");
    for (size_t i = 0; i < section.findings->size() && i < top; ++i) {
      const DiffFinding& finding = (*section.findings)[i];
      absl::StrAppend(text, "| ", Escaped(PlaceOf(finding)), " | ", Escaped(ChangeOf(finding)), " |\n");
    }
    if (section.findings->size() > top) absl::StrAppend(text, "| and ", section.findings->size() - top, " more | |\n");
  }
}

void WriteStack(const DiffFinding& finding, std::string* text) {
  if (finding.frames.empty()) return;
  absl::StrAppend(text, "\n<details><summary>Where</summary>\n\n");
  TextStyle style;
  for (const std::string& line : StackLines(style, finding.frames, finding.naming_frame, kStackFrames)) {
    absl::StrAppend(text, "    ", line, "\n");  // an indented block ends with the indentation, whatever is in it
  }
  absl::StrAppend(text, "\n</details>\n");
}

}  // namespace

std::string RenderDiffMarkdown(const DiffReport& report, size_t top) {
  const DiffAnswer answer = AnswerOf(report);
  std::string text = absl::StrCat("### GPU memory: ", Escaped(answer.title), "\n\n", Escaped(answer.words), "\n");
  if (!report.comparable) return text;
  if (answer.finding != nullptr) WriteStack(*answer.finding, &text);
  WriteFindings(report, top, &text);
  WriteDevices(report, &text);
  std::string notes;
  if (!report.moved.empty()) {
    absl::StrAppend(&notes, Plural(report.moved.size(), "site", "sites"), " only moved. ");
  }
  if (report.first_divergence) {
    absl::StrAppend(&notes, "The allocation sequences part at event ", FormatCount(report.first_divergence->event),
                    ". ");
  }
  if (!report.normaliser.empty()) absl::StrAppend(&notes, Escaped(report.normaliser), ". ");
  absl::StrAppend(&text, "\n", notes, Plural(report.base.steps.count, "step", "steps"), " of the base, ",
                  Plural(report.next.steps.count, "step", "steps"), " of the new run.\n");
  return text;
}

}  // namespace vramtrack
