// SPDX-License-Identifier: Apache-2.0
#include "analyzer/findings/site_id.h"

#include <cstdint>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace vramtrack {
namespace {

uint64_t HashOf(const std::string& text) {
  uint64_t hash = 0xcbf29ce484222325;  // FNV-1a: short texts, and the same on every machine
  for (const char c : text) hash = (hash ^ static_cast<uint8_t>(c)) * 0x100000001b3;
  return hash;
}

}  // namespace

std::string SiteIdentity(const ReportSite& site) {
  std::string text = absl::StrCat(site.level, "|", site.kind, "|", site.device ? absl::StrCat(*site.device) : "host");
  for (const ReportFrame& frame : site.frames) absl::StrAppend(&text, "|", frame.function);
  return text;
}

std::string SiteId(const ReportSite& site) {
  return absl::StrFormat("%08x", static_cast<uint32_t>(HashOf(SiteIdentity(site)) >> 32));
}

}  // namespace vramtrack
