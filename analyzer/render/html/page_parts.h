// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_RENDER_HTML_PAGE_PARTS_H_
#define ANALYZER_RENDER_HTML_PAGE_PARTS_H_

#include <string_view>

namespace vramtrack {

// What the build bundled of page/, see pack_page.py.
struct PageParts {
  std::string_view script;                   // empty: the bundle was not to be had, and the page is plain tables
  std::string_view style;                    // its style sheet; never empty
  std::string_view script_hash, style_hash;  // as a content security policy names them: "sha256-..."
};
extern const PageParts kPageParts;

}  // namespace vramtrack

#endif  // ANALYZER_RENDER_HTML_PAGE_PARTS_H_
