// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_RENDER_HTML_PAGE_HEAD_H_
#define ANALYZER_RENDER_HTML_PAGE_HEAD_H_

#include <string>

namespace vramtrack {

// Everything up to <body>: the title, which is markup, the style sheet, and what a browser may do with the page: show
// it. Nothing is fetched, and no style and, if `scripts`, no script but the page's own is used, whatever a name in the
// trace says.
std::string PageHead(const std::string& title, const std::string& tool_version, bool scripts);

// What makes a page's views of `data`, in base64, up to the end of the document.
std::string PageScripts(const std::string& data);

}  // namespace vramtrack

#endif  // ANALYZER_RENDER_HTML_PAGE_HEAD_H_
