// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/site_places.h"
#include "proto/hash.h"

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

namespace vramtrack {
namespace {

// One for each frame: of the frames from the innermost up to it.
std::vector<size_t> Hashes(const std::vector<ReportFrame>& frames) {
  const std::hash<std::string> of_text;
  std::vector<size_t> hashes;
  hashes.reserve(frames.size());
  size_t hash = 0;
  for (const ReportFrame& frame : frames) {
    for (const std::string* text : {&frame.function, &frame.file, &frame.module}) hash = Mix(hash, of_text(*text));
    hash = Mix(hash, frame.line);
    if (frame.line == 0) hash = Mix(hash, frame.offset);
    hashes.push_back(hash);
  }
  return hashes;
}

}  // namespace

SitePlaces::SitePlaces(const Report& report) {
  for (const ReportSite& site : report.sites) Count(site.frames);
}

SitePlaces::SitePlaces(const std::vector<const ReportSite*>& sites) {
  for (const ReportSite* site : sites) Count(site->frames);
}

void SitePlaces::Count(const std::vector<ReportFrame>& frames) {
  for (size_t hash : Hashes(frames)) ++sites_with_[hash];
}

size_t SitePlaces::FirstOfItsOwn(const std::vector<ReportFrame>& frames) const {
  std::vector<size_t> hashes = Hashes(frames);
  // More than one if sites differ in more than their frames.
  int fewest = sites_with_.at(hashes.back());
  size_t i = 0;
  while (sites_with_.at(hashes[i]) > fewest) ++i;
  return i;
}

const ReportFrame* SitePlaces::Of(const ReportSite& site) const {
  if (site.frames.empty()) return nullptr;
  if (IsLeak(site)) return &site.frames[std::min(site.blame_frame, site.frames.size() - 1)];
  return Of(site.frames);
}

const ReportFrame* SitePlaces::Of(const std::vector<ReportFrame>& frames) const {
  if (frames.empty()) return nullptr;
  // Of a stack without Python, what the user's own code called, not the inside of a library.
  const size_t named = NamingFrame(frames, FirstOfItsOwn(frames));
  return &frames[IsPython(frames[named]) ? named : OwnFrame(frames, named).value_or(named)];
}

const ReportFrame* SitePlaces::Innermost(const ReportSite& site) const {
  if (site.frames.empty()) return nullptr;
  const size_t own = FirstOfItsOwn(site.frames);
  for (size_t i = own; i < site.frames.size(); ++i) {
    if (site.frames[i].language == Language::kPython) return &site.frames[i];
  }
  return &site.frames[own];
}

}  // namespace vramtrack
