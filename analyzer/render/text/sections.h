// SPDX-License-Identifier: Apache-2.0
//
// The sections of the text report.
#ifndef ANALYZER_RENDER_TEXT_SECTIONS_H_
#define ANALYZER_RENDER_TEXT_SECTIONS_H_

#include <cstddef>
#include <string>
#include <vector>

#include "analyzer/model/report.h"
#include "analyzer/render/text/page.h"

namespace vramtrack {

// Writes the answer: the worst leak with its line, its rate and at most `frames` frames of its stack; or that nothing
// leaks and why; or what evidence is missing.
void WriteAnswer(const Report& report, size_t frames, Page* page);

// Writes further findings and lookalikes: at most `most`, one line each and, with `reasons`, their explanation.
void WriteFurtherFindings(const Report& report, size_t most, bool reasons, Page* page);

// Writes how many sites are in order, in one line, after a blank line if `apart`. Writes nothing if there are none.
void WriteVerdictCounts(const Report& report, bool apart, Page* page);

// Writes the last allocation that failed: its size and site, why it failed, and the `top` sites that held the memory.
// Writes nothing if none failed.
void WriteOutOfMemory(const Report& report, size_t frames, size_t top, Page* page);

// Writes the frames of a stack, as StackLines has them, below a finding.
void WriteStack(const std::vector<ReportFrame>& stack, size_t marked, size_t frames, Page* page);

// Writes what holds the blocks of a site by Python names, and what to change if that is certain. Writes nothing if no
// walk shows it.
void WriteHolder(const ReportSite& site, int indent, Page* page);
// Returns how to find out what holds the blocks of a site; empty if a walk was made, or is of no use for the program.
std::string HowToFindHolder(const Report& report, const ReportSite& site);
// Writes who held the memory at a failed allocation, in at most `top` lines. Writes nothing if no walk shows it.
void WriteHeldBy(const ReportOom& oom, int indent, size_t top, Page* page);

// Writes a section for each device: peak, end, growth, fragmentation, a chart, the `top` sites at the peak; then the
// host's memory, and a section for pinned memory if there is any.
void WriteDevices(const Report& report, size_t top, Page* page);

// Writes what lived through sleeps, in at most `top` lines each. Writes nothing for a job
// with neither.
void WriteSleeps(const Report& report, size_t top, Page* page);

// Writes one line for each device, and one for the host's memory if it grows.
void WriteDevicesInShort(const Report& report, size_t most, Page* page);

// Writes the ranks of a job as a table, and a sentence for each group of ranks that differ from the others in the same
// way. If some differ and the page is wide enough, rows have a curve of the rank's memory. With more than `most` ranks,
// only `most` ranks that differ have a row, and a line summarizes the others.
void WriteRanks(const Report& report, size_t most, Page* page);

// Writes only the differences, in at most `most` sentences.
void WriteRanksInShort(const Report& report, size_t most, Page* page);

// Writes how complete the trace of each process is (at most `most` processes, incomplete ones first), where the steps
// come from, and the warnings of the analysis.
void WriteCompleteness(const Report& report, size_t most, Page* page);

// Writes the same in one line; the warnings are only counted.
void WriteCompletenessInShort(const Report& report, Page* page);

}  // namespace vramtrack

#endif  // ANALYZER_RENDER_TEXT_SECTIONS_H_
