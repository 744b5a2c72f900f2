// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_RENDER_TEXT_DIFF_TEXT_H_
#define ANALYZER_RENDER_TEXT_DIFF_TEXT_H_

#include <cstddef>
#include <string>
#include <vector>

#include "analyzer/base/display_text.h"
#include "analyzer/model/diff_report.h"

namespace vramtrack {

// Renders the answer in one sentence, then the devices and the sections, with at most `top` findings in each.
std::string RenderDiffText(const DiffReport& report, const TextStyle& style, size_t top = 10);

// The headline of a diff, the same in text, Markdown and HTML.
struct DiffAnswer {
  std::string title;  // "NEW LEAK", "PEAK +1.20 GiB", "NOTHING CHANGED"
  std::string words;  // the rest of the sentence
  Paint paint = Paint::kPlain;
  const DiffFinding* finding = nullptr;  // the finding that the answer is about; null: none, or all
};

DiffAnswer AnswerOf(const DiffReport& report);

// Returns the place of a finding, such as "transformer/attention.cu:26  Attention::Forward".
std::string PlaceOf(const DiffFinding& finding);

// Returns the change, such as "leaks 768 KiB per step" or "+1.10 GiB at the peak (2.00 GiB to 3.10 GiB)".
std::string ChangeOf(const DiffFinding& finding);

// Returns a size with its sign: "+1.20 GiB", "-64.0 KiB".
std::string SignedBytes(double bytes);
// Returns the difference of a value with its sign; "same" without one.
std::string DeltaText(const DiffValue& value);

// The sections that have entries, in the order new, gone, grown, shrunk.
struct DiffSection {
  const char* title;
  const std::vector<DiffFinding>* findings;
};
std::vector<DiffSection> SectionsOf(const DiffReport& report);

// Renders Markdown for a comment on a pull request: the answer, a table of the devices, and a table of findings with at
// most `top` rows.
std::string RenderDiffMarkdown(const DiffReport& report, size_t top = 10);

}  // namespace vramtrack

#endif  // ANALYZER_RENDER_TEXT_DIFF_TEXT_H_
