// SPDX-License-Identifier: Apache-2.0
//
// The sections of the text report. Each writes nothing where it has nothing to say. text.cc has the table of them.
#ifndef ANALYZER_RENDER_TEXT_SECTIONS_H_
#define ANALYZER_RENDER_TEXT_SECTIONS_H_

#include <cstddef>
#include <string>
#include <vector>

#include "analyzer/model/report.h"
#include "analyzer/model/site_places.h"
#include "analyzer/render/text/page.h"
#include "analyzer/render/text/text.h"
#include "analyzer/render/words/device_words.h"

namespace vramtrack {

// What sections are written from, and where to.
struct TextView {
  const Report& report;
  const SitePlaces& places;
  const TextOptions& options;
  Page* page;
};

// Writes the last allocation that failed: who is to blame, the sizes, and what was different before; whole, also its
// stack and what held the memory.
void WriteOutOfMemory(const TextView& view);

// Writes the worst leak with its line, its rate and its stack; or that nothing leaks; or what grows, and what evidence
// is missing. Whole, also the evidence in detail.
void WriteHeadline(const TextView& view);

// Writes further leaks and lines that only look like one, with reasons.
void WriteFurther(const TextView& view);

// Writes the ranks of a job as a table if some differ, or whole in any case, and a sentence for each group of ranks
// that differ from the others in the same way. If some differ and the page is wide enough, rows have a curve of the
// rank's memory. Of many ranks, only those that differ have a row, and a line summarizes the others.
void WriteRanks(const TextView& view);

// Write parts of the section of a device.
void WriteAdvice(const TextView& view, const ReportDevice& device);     // only what saves much, unless whole
void WriteCurve(const TextView& view, const ReportDevice& device);      // live bytes, up to the end of the last step
void WritePeakLines(const TextView& view, const ReportDevice& device);  // the lines that hold the memory at the peak
void WriteDriver(const TextView& view, const ReportDevice& device);     // notable memory of others, from the driver
void WriteSavings(const TextView& view, const ReportDevice& device);    // objects freed late, the peak without several

void WriteReleases(const TextView& view);  // segments that a framework's allocator returned to the driver
void WriteCards(const TextView& view);     // cards that several processes share
void WriteContexts(const TextView& view);  // CUDA contexts on devices where their process does not work
void WriteHost(const TextView& view);
void WritePinned(const TextView& view);
void WriteSleeps(const TextView& view);  // what lived through sleeps

// Writes how complete the trace is, where the steps come from, and the warnings; whole, of each process (incomplete
// ones first).
void WriteTrace(const TextView& view);

// Writes rows of a label and words.
void WriteRows(const WordRows& rows, Page* page);

// Writes at most about `frames` frames of a stack, as StackLines has them, below a finding.
void WriteStack(const std::vector<ReportFrame>& stack, size_t marked, size_t frames, Page* page);

}  // namespace vramtrack

#endif  // ANALYZER_RENDER_TEXT_SECTIONS_H_
