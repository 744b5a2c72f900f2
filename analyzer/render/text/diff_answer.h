// SPDX-License-Identifier: Apache-2.0
//
// What a diff says first, in text and in Markdown alike.
#ifndef ANALYZER_RENDER_TEXT_DIFF_ANSWER_H_
#define ANALYZER_RENDER_TEXT_DIFF_ANSWER_H_

#include <string>
#include <vector>

#include "analyzer/base/text_style.h"
#include "analyzer/model/diff_report.h"

namespace vramtrack {

struct DiffAnswer {
  std::string title;  // "NEW LEAK", "PEAK +1.20 GiB", "NOTHING CHANGED"
  std::string words;  // the rest of the sentence
  Paint paint = Paint::kPlain;
  const DiffFinding* finding = nullptr;  // that the answer is about; null: none, or all of them
};

DiffAnswer AnswerOf(const DiffReport& report);

// "transformer/attention.cu:26  Attention::Forward"
std::string PlaceOf(const DiffFinding& finding);

// "leaks 768 KiB per step", "+1.10 GiB at the peak (2.00 GiB to 3.10 GiB)"
std::string ChangeOf(const DiffFinding& finding);

// "+1.20 GiB", "-64.0 KiB"
std::string SignedBytes(double bytes);

// The sections with a title each, those without entries left out: new, gone, grown, shrunk.
struct DiffSection {
  const char* title;
  const std::vector<DiffFinding>* findings;
};
std::vector<DiffSection> SectionsOf(const DiffReport& report);

}  // namespace vramtrack

#endif  // ANALYZER_RENDER_TEXT_DIFF_ANSWER_H_
