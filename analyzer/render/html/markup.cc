// SPDX-License-Identifier: Apache-2.0
#include "analyzer/render/html/markup.h"

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "analyzer/base/display_text.h"
#include "analyzer/base/gzip.h"
#include "analyzer/base/quantity.h"

namespace vramtrack {
namespace {

absl::string_view Plain(std::string_view text) { return {text.data(), text.size()}; }

}  // namespace

MarkupTable::MarkupTable(const std::string& title, const std::vector<const char*>& columns) {
  absl::StrAppend(&text_, "<h2>", EscapeHtml(title), "</h2>\n<div class=\"scroll\"><table>\n<thead><tr>");
  for (const char* column : columns) absl::StrAppend(&text_, "<th scope=\"col\">", column, "</th>");
  text_ += "</tr></thead>\n<tbody>\n";
}

void MarkupTable::MarkupRow(const std::vector<std::string>& cells) {
  if (++rows_ > kMostRows) return;
  text_ += "<tr>";
  for (const std::string& cell : cells) absl::StrAppend(&text_, "<td>", cell, "</td>");
  text_ += "</tr>\n";
}

std::string MarkupTable::Finish() const {
  if (rows_ == 0) return "";
  std::string text = text_ + "</tbody></table></div>\n";
  if (rows_ > kMostRows) absl::StrAppend(&text, "<p>and ", FormatCount(rows_ - kMostRows), " more</p>\n");
  return text;
}

std::string EscapeLines(std::string_view text) {
  return absl::StrReplaceAll(Plain(text),
                             {{"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}, {"\"", "&quot;"}, {"'", "&#39;"}});
}

std::string EscapeHtml(std::string_view bytes) { return EscapeLines(Printable(bytes)); }

std::string PagePolicy(PageUse use) {
  return absl::StrCat("default-src 'none'; style-src '", Plain(kPageParts.style_hash), "'; img-src data:; ",
                      "base-uri 'none'; form-action 'none'",
                      use != PageUse::kPlain ? absl::StrCat("; script-src '", Plain(kPageParts.script_hash), "'") : "",
                      use == PageUse::kLive ? "; connect-src 'self'" : "");
}

std::string PageHead(const std::string& title, const std::string& tool_version, PageUse use) {
  return absl::StrCat("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n",
                      "<meta http-equiv=\"Content-Security-Policy\" content=\"", PagePolicy(use), "\">\n",
                      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n",
                      "<meta name=\"color-scheme\" content=\"light dark\">\n",
                      "<meta name=\"referrer\" content=\"no-referrer\">\n",
                      "<meta name=\"generator\" content=\"vramtrack ", EscapeHtml(tool_version), "\">\n",
                      // Or a browser would ask a server for one.
                      "<link rel=\"icon\" href=\"data:,\">\n", "<title>", title, "</title>\n<style>",
                      Plain(kPageParts.style), "</style>\n</head>\n");
}

std::string PageScripts(const std::string& data) {
  return absl::StrCat("<script id=\"data\" type=\"application/octet-stream\">", data, "</script>\n<script>",
                      Plain(kPageParts.script), "</script>\n</body>\n</html>\n");
}

std::string GzipBase64(std::string_view text) {
  const std::string packed = Gzip(text);
  std::string encoded;
  absl::Base64Escape(absl::string_view(packed.data(), packed.size()), &encoded);
  return encoded;
}

}  // namespace vramtrack
