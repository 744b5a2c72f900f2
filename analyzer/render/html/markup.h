// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_RENDER_HTML_MARKUP_H_
#define ANALYZER_RENDER_HTML_MARKUP_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace vramtrack {

// An HTML table with a title above it. Thread-compatible.
class MarkupTable {
 public:
  static constexpr size_t kMostRows = 200;  // further rows are only counted

  MarkupTable(const std::string& title, const std::vector<const char*>& columns);

  // Adds a row. The cells are markup.
  void MarkupRow(const std::vector<std::string>& cells);
  // Returns the table; empty if it has no rows.
  std::string Finish() const;

 private:
  std::string text_;
  size_t rows_ = 0;
};

// Escapes text from a trace (any bytes) for the content of an element or of an attribute in double quotes. Unprintable
// characters are replaced as by Printable, and markup characters are escaped.
std::string EscapeHtml(std::string_view bytes);

// Escapes text of our own that has several lines.
std::string EscapeLines(std::string_view text);

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

#endif  // ANALYZER_RENDER_HTML_MARKUP_H_
