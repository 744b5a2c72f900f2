// SPDX-License-Identifier: Apache-2.0
#include "analyzer/job/site_id.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "analyzer/attribution/blame.h"
#include "analyzer/ledger/kind.h"
#include "proto/hash.h"

namespace vramtrack {
namespace {

uint64_t HashOf(const std::string& text) {
  uint64_t hash = 0xcbf29ce484222325;  // FNV-1a: short texts, and the same on every machine
  for (const char c : text) hash = (hash ^ static_cast<uint8_t>(c)) * 0x100000001b3;
  return hash;
}

std::string Places(const ReportSite& site) {
  std::string text;
  for (const ReportFrame& frame : site.frames) {
    absl::StrAppend(&text, "|", frame.file, "|", absl::Dec(frame.line, absl::kZeroPad8), "|", frame.module, "|",
                    absl::Hex(frame.offset, absl::kZeroPad16));
  }
  return text;
}

}  // namespace

ReportSite SiteOutline(uint32_t kind, bool segments, std::optional<uint32_t> device, std::vector<ReportFrame> frames) {
  ReportSite site;
  site.level = LevelOf(kind, segments);
  site.kind = KindName(kind);
  site.device = device;
  site.frames = std::move(frames);
  return site;
}

std::string SiteIdentity(const ReportSite& site) {
  std::string text =
      absl::StrCat(NameOf(site.level), "|", site.kind, "|", site.device ? absl::StrCat(*site.device) : "host");
  for (const ReportFrame& frame : site.frames) absl::StrAppend(&text, "|", frame.function);
  return text;
}

std::string SiteId(const ReportSite& site) {
  return absl::StrFormat("%08x", static_cast<uint32_t>(HashOf(SiteIdentity(site)) >> 32));
}

std::string SameSiteKey(const ReportSite& site) {
  std::string text = SiteIdentity(site);
  for (const ReportFrame& frame : site.frames) {
    absl::StrAppend(&text, "|", frame.file, "|", frame.line);
    if (frame.line == 0) absl::StrAppend(&text, "|", frame.module, "|", frame.offset);
  }
  return text;
}

size_t FramesHash(const std::vector<ReportFrame>& frames) {
  const std::hash<std::string> text;
  size_t hash = 0;
  for (const ReportFrame& frame : frames) {
    hash = Mix(hash, text(frame.function));
    hash = Mix(hash, text(frame.file));
    hash = Mix(hash, frame.line != 0 ? frame.line : text(frame.module) + frame.offset);
  }
  return hash;
}

bool IsSameStack(const std::vector<ReportFrame>& a, const std::vector<ReportFrame>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const ReportFrame& one, const ReportFrame& other) {
    return one.function == other.function && one.file == other.file && one.line == other.line &&
           (one.line != 0 || (one.module == other.module && one.offset == other.offset));
  });
}

size_t PlaceHash(const ReportSite& site) {
  const std::hash<std::string> text;
  return Mix(Mix(FramesHash(site.frames), static_cast<size_t>(site.level)), text(site.kind));
}

bool IsSamePlace(const ReportSite& a, const ReportSite& b) {
  return a.level == b.level && a.kind == b.kind && IsSameStack(a.frames, b.frames);
}

void AssignIds(size_t reported, std::vector<ReportSite>* sites) {
  std::map<std::string, std::vector<size_t>> by_id;
  for (size_t i = 0; i < sites->size(); ++i) by_id[SiteId((*sites)[i])].push_back(i);
  for (auto& [id, same] : by_id) {
    const auto key = [&](size_t i) {
      return std::make_tuple(i >= reported, SiteIdentity((*sites)[i]), Places((*sites)[i]));
    };
    std::sort(same.begin(), same.end(), [&](size_t a, size_t b) { return key(a) < key(b); });
    for (size_t i = 0; i < same.size(); ++i) (*sites)[same[i]].id = i == 0 ? id : absl::StrCat(id, "-", i + 1);
  }
}

std::vector<uint64_t> IndicesInRaw(const std::vector<ReportFrame>& useful, const std::vector<ReportFrame>& raw) {
  std::vector<uint64_t> indices(useful.size());
  size_t after = raw.size();
  for (size_t i = useful.size(); i-- > 0;) {
    size_t at = after;
    while (at > 0 && !SamePlace(raw[at - 1], useful[i])) --at;
    // A frame that raw stacks do not have stays where the next one out is.
    if (at > 0) after = at - 1;
    indices[i] = raw.empty() ? 0 : std::min(after, raw.size() - 1);
  }
  return indices;
}

void ShowRawFrames(ReportSite* site) {
  if (site->raw_frames.empty()) return;
  const std::vector<uint64_t> indices = IndicesInRaw(site->frames, site->raw_frames);
  if (site->blame_frame < indices.size()) site->blame_frame = indices[site->blame_frame];
  if (site->own_frame && *site->own_frame < indices.size()) site->own_frame = indices[*site->own_frame];
  site->frames = std::exchange(site->raw_frames, {});
}

}  // namespace vramtrack
