// SPDX-License-Identifier: Apache-2.0
#include "analyzer/render/words/verdict_words.h"

#include <cstddef>

#include "absl/strings/ascii.h"

namespace vramtrack {

const VerdictWords& WordsOf(Verdict verdict) {
  static constexpr VerdictWords kWords[] = {
      {"leak", "leak", "leaks "},
      {"accelerating leak", "accelerating leak", "leaks faster and faster: "},
      {"growing buffer", "growing buffer", "buffer grows by "},
      {"minor leak", "minor leak", "leaks a little: "},
      {"fills, slowing or full", "slows down", "grows, but slows down"},
      {"freed after a phase", "freed after phase", "grows within a phase, then is freed"},
      {"freed in bursts", "freed in bursts", "is freed in batches, probably by gc"},
      {"once", "kept, no growth", ""},
      {"fragmentation", "fragmentation", "fragmentation grows"},
      {"varies", "steady", ""},
      {"may leak", "may leak", "cannot be judged yet"},
  };
  static_assert(std::size(kWords) == std::size(EnumNames<Verdict>::kNames), "one row for each verdict");
  return kWords[static_cast<size_t>(verdict)];
}

std::string LeakTitle(const ReportSite& site) {
  return IsLeak(site) ? absl::AsciiStrToUpper(WordsOf(site.verdict).growth) : "LEAK";
}

std::string StateText(const Report& report, const ReportSite& site) {
  const bool unjudged = site.verdict == Verdict::kInsufficientEvidence && report.steps.count == 0;
  return unjudged ? "no steps found" : WordsOf(site.verdict).state;
}

const char* ToneOf(Verdict verdict) {
  if (IsLeak(verdict)) return "bad";
  return verdict == Verdict::kSteady || verdict == Verdict::kOneTime ? "good" : "unsure";
}

}  // namespace vramtrack
