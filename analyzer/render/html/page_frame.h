// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_RENDER_HTML_PAGE_FRAME_H_
#define ANALYZER_RENDER_HTML_PAGE_FRAME_H_

#include <string>
#include <string_view>

namespace vramtrack {

// The style sheet and the script that the build bundles from page/; see pack_page.py.
struct PageParts {
  std::string_view script, style;            // never empty
  std::string_view script_hash, style_hash;  // as a content security policy names them: "sha256-..."
};
extern const PageParts kPageParts;

// Returns everything up to <body>: the title (markup), the style sheet and a content security policy. The page fetches
// nothing and uses only its own style and, if `scripts`, its own script, even if a name in the trace contains markup.
std::string PageHead(const std::string& title, const std::string& tool_version, bool scripts);

// Returns the scripts that show `data` (base64), and the end of the document.
std::string PageScripts(const std::string& data);

// Returns `text`, compressed with gzip and encoded in base64: browsers can decompress it, and it contains no markup.
// The same text gives the same bytes.
std::string GzipBase64(std::string_view text);

}  // namespace vramtrack

#endif  // ANALYZER_RENDER_HTML_PAGE_FRAME_H_
