// SPDX-License-Identifier: Apache-2.0
//
// The lines of code that hold memory. A site is one call stack, but a reader looks for a line: what all stacks do whose
// innermost frame of the user's own code is the same is judged together. Code that is made or loaded again under other
// names is one line.
#ifndef ANALYZER_VERDICTS_CODE_LINES_H_
#define ANALYZER_VERDICTS_CODE_LINES_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/attribution/stack_symbolizer.h"
#include "analyzer/base/indices.h"
#include "analyzer/ledger/growth_ledger.h"
#include "analyzer/ledger/ledger.h"

namespace vramtrack {

// What code is named by, from the line outwards.
enum class CodeUnit : uint8_t { kLine, kFunction, kFile, kModule };
constexpr size_t kCodeUnits = 4;

struct CodeLine {
  uint32_t book = 0;                          // of GrowthLedger
  ReportFrame frame;                          // that names the line
  std::array<uint64_t, kCodeUnits> key = {};  // hashes: equal for lines of one function, file or module
  std::vector<SiteIndex> sites;
};

// Returns the lines of the sites that `wanted` names, by their first allocation. Only these sites are symbolized.
std::vector<CodeLine> LinesOf(const Ledger& ledger, const GrowthLedger& growth, const std::vector<SiteIndex>& wanted,
                              StackSymbolizer* symbolizer);

// Returns the name without what distinguishes copies of generated code: numbers and hashes become '#'.
std::string NameOfCopies(std::string_view name);

}  // namespace vramtrack

#endif  // ANALYZER_VERDICTS_CODE_LINES_H_
