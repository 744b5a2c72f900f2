// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_RENDER_HTML_PACKED_H_
#define ANALYZER_RENDER_HTML_PACKED_H_

#include <string>
#include <string_view>

namespace vramtrack {

// `text`, compressed as gzip does it, in base64: a browser unpacks it by itself, and nothing of it can be taken for
// markup. The same text gives the same bytes.
std::string GzipBase64(std::string_view text);

}  // namespace vramtrack

#endif  // ANALYZER_RENDER_HTML_PACKED_H_
