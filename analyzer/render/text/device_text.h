// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_RENDER_TEXT_DEVICE_TEXT_H_
#define ANALYZER_RENDER_TEXT_DEVICE_TEXT_H_

#include <cstddef>

#include "analyzer/model/report.h"
#include "analyzer/render/text/page.h"

namespace vramtrack {

// A section for each device: peak, end, growth, fragmentation, a chart, the `top` sites at the peak; then one for
// pinned host memory if there is any.
void WriteDevices(const Report& report, size_t top, Page* page);

// One line for each device.
void WriteDevicesInShort(const Report& report, size_t most, Page* page);

}  // namespace vramtrack

#endif  // ANALYZER_RENDER_TEXT_DEVICE_TEXT_H_
