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

// Returns the memory of a device at its peak and at the end, its growth, who held it, and what its steps need.
WordRows MemoryRows(const Report& report, const ReportDevice& device);
// Returns what is reserved and not live, and what pins it.
WordRows FragmentationRows(const ReportDevice& device);
// Returns the settings that would help.
WordRows AdviceRows(const ReportDevice& device);
// Returns what was not traced.
WordRows UntracedRows(const ReportDevice& device);

// Returns the title of a card that several processes share, and its rows, with at most `most` processes.
std::string CardTitle(const ReportCard& card);
WordRows CardRows(const ReportCard& card, size_t most);

// Returns the title of the host's memory, its rows, and how what is resident grows. The report must have it.
std::string HostTitle(const Report& report);
WordRows HostRows(const ReportHost& host);
std::string HostGrowth(const ReportHostFigure& resident);

}  // namespace vramtrack

#endif  // ANALYZER_RENDER_WORDS_DEVICE_WORDS_H_
