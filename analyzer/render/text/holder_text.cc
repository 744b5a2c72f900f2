// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "analyzer/base/display_text.h"
#include "analyzer/base/quantity.h"
#include "analyzer/render/text/page.h"
#include "analyzer/render/text/sections.h"

namespace vramtrack {
namespace {

// Text with marks beyond ASCII, as the terminal can show it.
std::string InStyle(const TextStyle& style, const std::string& text) {
  const std::string printable = Printable(text);
  return style.unicode ? printable : absl::StrReplaceAll(printable, {{"→", "->"}, {"…", "..."}});
}

}  // namespace

void WriteHolder(const ReportSite& site, int indent, Page* page) {
  constexpr int kLabelColumns = 9;
  if (!site.holder) return;
  const std::string before(static_cast<size_t>(indent), ' ');
  const TextStyle& style = page->style();
  page->Words(InStyle(style, site.holder->explanation), indent + kLabelColumns, Paint::kPlain, before + "kept by");
  if (site.holder->hint.empty()) return;
  page->Words(InStyle(style, site.holder->hint), indent + kLabelColumns, Paint::kBold, before + "fix");
}

std::string HowToFindHolder(const Report& report, const ReportSite& site) {
  if (site.holder || !report.walks.empty() || site.level != Level::kFramework) return "";
  if (std::none_of(site.frames.begin(), site.frames.end(), IsPython)) return "";
  // A walk looks for PyTorch's tensors.
  for (const ReportProcess& process : report.processes) {
    if (!process.allocators.empty()) return "";
  }
  return "who holds it: run again with --holders";
}

void WriteHeldBy(const ReportOom& oom, int indent, size_t top, Page* page) {
  if (oom.held_by.empty()) return;
  page->Line("held at that moment, by name:", indent);
  const TextStyle& style = page->style();
  for (size_t i = 0; i < oom.held_by.size() && i < top; ++i) {
    const ReportHolderShare& holder = oom.held_by[i];
    std::string what = holder.type;
    if (holder.count) {
      absl::StrAppend(&what, what.empty() ? "" : ", ", Plural(*holder.count, "entry", "entries"));
    }
    std::string line = absl::StrCat(PadLeft(BytesText(holder.bytes), 10), "  ", InStyle(style, holder.path));
    if (!what.empty()) absl::StrAppend(&line, "  (", Printable(what), ")");
    page->Line(CutEnd(line, style.columns - indent), indent);
  }
}

}  // namespace vramtrack
