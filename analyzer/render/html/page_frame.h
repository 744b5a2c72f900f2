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

enum class PageUse {
  kPlain,    // without scripts
  kScripts,  // with the script of the page
  kLive,     // which also fetches from the page's own server
};

// Returns the content security policy of a page: it fetches nothing, except for kLive, and uses only its own style and
// script, even if a name in the trace contains markup.
std::string PagePolicy(PageUse use);

// Returns everything up to <body>: the title (markup), the style sheet and the policy.
std::string PageHead(const std::string& title, const std::string& tool_version, PageUse use);

// Returns the scripts that show `data` (base64), and the end of the document.
std::string PageScripts(const std::string& data);

// Returns `text`, compressed with gzip and encoded in base64: browsers can decompress it, and it contains no markup.
// The same text gives the same bytes.
std::string GzipBase64(std::string_view text);

}  // namespace vramtrack

#endif  // ANALYZER_RENDER_HTML_PAGE_FRAME_H_
