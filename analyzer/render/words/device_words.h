// SPDX-License-Identifier: Apache-2.0
//
// What is said of a device, of a card and of the host, as rows of a label and words, without a layout.
#ifndef ANALYZER_RENDER_WORDS_DEVICE_WORDS_H_
#define ANALYZER_RENDER_WORDS_DEVICE_WORDS_H_

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/model/report.h"

namespace vramtrack {

// A label, empty for what belongs to the row before, and its words. Names of the trace in it are printable.
using WordRows = std::vector<std::pair<std::string, std::string>>;

// Returns "Device 0: NVIDIA H100, 80.0 GiB"; of several processes, with the one that is meant.
std::string DeviceTitle(const ReportDevice& device);

// Returns "peak 13.0 MiB live, 26.0 MiB reserved, at step 119".
std::string PeakText(const ReportDevice& device);

// Return what a section says of a device; nothing where it has nothing to say.
WordRows MemoryRows(const Report& report, const ReportDevice& device);         // at its peak and at the end
WordRows LedgerRows(const Report& report, const ReportDevice& device);         // what adds up to the memory in use
WordRows GrowthRows(const Report& report, const ReportDevice& device);         // by line, and its rates
WordRows HeldRows(const Report& report, const ReportDevice& device);           // what a walk found
WordRows ValueRows(const Report& report, const ReportDevice& device);          // how the peak follows the step's value
WordRows LimitRows(const Report& report, const ReportDevice& device);          // how much can be filled
WordRows FragmentationRows(const Report& report, const ReportDevice& device);  // reserved and not live, what pins it
WordRows UntracedRows(const Report& report, const ReportDevice& device);       // what was not traced
std::string AdviceText(const ReportAdvice& advice);

// Returns the title of a card that several processes share, and its rows, with at most `most` processes.
std::string CardTitle(const ReportCard& card);
WordRows CardRows(const ReportCard& card, size_t most);

// Returns the CUDA contexts that a process made where it does not work, or with `all` every one, at most `most`; empty
// for a job that made a single one.
WordRows ContextRows(const Report& report, bool all, size_t most);

// Returns the title of the host's memory and its rows. The report must have it.
std::string HostTitle(const Report& report);
WordRows HostRows(const Report& report);

}  // namespace vramtrack

#endif  // ANALYZER_RENDER_WORDS_DEVICE_WORDS_H_
