// SPDX-License-Identifier: Apache-2.0
#include "analyzer/render/text/text.h"

#include <algorithm>
#include <cstdint>

#include "analyzer/base/display_text.h"
#include "analyzer/render/text/page.h"
#include "analyzer/render/text/sections.h"

namespace vramtrack {
namespace {

constexpr size_t kFramesInShort = 5;
constexpr size_t kFindingsInShort = 2;
constexpr size_t kRanks = 16;
constexpr size_t kRequestFramesInShort = 4;

}  // namespace

std::string RenderText(const Report& report, const TextStyle& style, size_t top, bool every_frame) {
  const size_t frames = every_frame ? SIZE_MAX : kStackFrames;
  Page page(style);
  WriteOutOfMemory(report, frames, top, &page);
  page.Blank();
  WriteAnswer(report, frames, &page);
  if (!report.left_out.empty()) page.Words(Printable(report.left_out), 0, Paint::kWarning);
  WriteFurtherFindings(report, top, true, &page);
  WriteVerdictCounts(report, true, &page);
  WriteRanks(report, std::max(top, kRanks), &page);
  WriteDevices(report, top, &page);
  WriteSleeps(report, top, &page);
  WriteCompleteness(report, top, &page);
  return page.text();
}

std::string RenderShortText(const Report& report, const TextStyle& style) {
  Page page(style);
  WriteOutOfMemory(report, kRequestFramesInShort, 3, &page);
  WriteAnswer(report, report.oom.empty() ? kFramesInShort : 0, &page);
  if (report.oom.empty()) WriteFurtherFindings(report, kFindingsInShort, false, &page);
  WriteVerdictCounts(report, false, &page);
  WriteRanksInShort(report, 2, &page);
  WriteDevicesInShort(report, 2, &page);
  WriteCompletenessInShort(report, &page);
  return page.text();
}

}  // namespace vramtrack
