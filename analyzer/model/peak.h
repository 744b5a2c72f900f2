// SPDX-License-Identifier: Apache-2.0
//
// Memory that is live at the peak of a device, and the lines and calls that hold it.
#ifndef ANALYZER_MODEL_PEAK_H_
#define ANALYZER_MODEL_PEAK_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/base/indices.h"
#include "analyzer/model/enums.h"
#include "analyzer/model/fields.h"
#include "analyzer/model/frame.h"

namespace vramtrack {

struct ReportPeakCategory {
  std::string name;
  uint64_t bytes = 0;
  double confidence = 0;
  std::vector<std::pair<std::string, uint64_t>> evidence;
};

template <>
inline constexpr const char* kAbout<ReportPeakCategory> = "[What the memory is for](peaks.md)";
template <class Visitor>
void Fields(Visitor& visit, ReportPeakCategory& category) {
  visit(1, "name", category.name);
  visit(2, "bytes", category.bytes);
  visit(3, "confidence", category.confidence, "0 to 1");
  visit(4, "evidence", field::Map{category.evidence}, "what decided, with its bytes");
}

struct ReportPeakShare {
  PeakAge age = PeakAge::kThisStep;
  uint64_t objects = 0, bytes = 0;
};

template <>
inline constexpr const char* kAbout<ReportPeakShare> = "By when it was allocated";
template <class Visitor>
void Fields(Visitor& visit, ReportPeakShare& share) {
  visit(1, "age", share.age, "`recent_steps`: the ten before it; `setup`: before the end of the first step");
  visit(2, "objects", share.objects);
  visit(3, "bytes", share.bytes);
}

struct ReportSizeClass {
  std::optional<uint64_t> up_to;
  uint64_t objects = 0, bytes = 0;
};

template <>
inline constexpr const char* kAbout<ReportSizeClass> = "By the size of an object";
template <class Visitor>
void Fields(Visitor& visit, ReportSizeClass& size) {
  visit(1, "up_to", size.up_to, "bytes of one object; `null` for the largest");
  visit(2, "objects", size.objects);
  visit(3, "bytes", size.bytes);
}

struct ReportPeakWithout {
  std::vector<ReportSiteIndex> sites;
  uint64_t peak = 0;
};

template <>
inline constexpr const char* kAbout<ReportPeakWithout> = "The peak without several of its largest sites";
template <class Visitor>
void Fields(Visitor& visit, ReportPeakWithout& without) {
  visit(1, "sites", without.sites, "the largest, the two largest, the three largest");
  visit(2, "peak", without.peak);
}

struct ReportPeakSet {
  std::vector<ReportPeakCategory> categories;
  std::vector<ReportPeakShare> ages;
  std::vector<ReportSizeClass> sizes;
  std::vector<ReportPeakWithout> without;  // the largest, the two largest, the three largest
};

template <>
inline constexpr const char* kAbout<ReportPeakSet> =
    "What is live at a device's peak. Categories and sizes add up to its live bytes, and so do ages where there are "
    "steps";
template <class Visitor>
void Fields(Visitor& visit, ReportPeakSet& set) {
  visit(1, "categories", set.categories, "by bytes, the most first");
  visit(2, "ages", set.ages, "empty without steps");
  visit(3, "sizes", set.sizes);
  visit(4, "without", set.without);
}

struct ReportLateFree {
  ReportSiteIndex site;
  uint64_t sites = 0;
  uint64_t peak_saved = 0;
};

template <>
inline constexpr const char* kAbout<ReportLateFree> =
    "[Objects that are freed late](peaks.md#objects-that-are-freed-late), by category";
template <class Visitor>
void Fields(Visitor& visit, ReportLateFree& late) {
  visit(1, "site", late.site, "the largest of them; `null` if none is among `sites[]`");
  visit(2, "sites", late.sites, "how many there are");
  visit(3, "peak_saved", late.peak_saved, "by what the peak would be lower");
}

struct ReportPeakLine {
  std::optional<ReportFrame> line;
  ReportSiteIndex site;  // none if it is not in the report's list
  bool leak = false;
  uint64_t sites = 0;
  uint64_t bytes = 0;
  uint64_t peak_without = 0;
  std::string category;
};

template <>
inline constexpr const char* kAbout<ReportPeakLine> =
    "A line of the job, and what was allocated there of the memory that is live at a peak";
template <class Visitor>
void Fields(Visitor& visit, ReportPeakLine& line) {
  visit(1, "line", line.line, "the line that all of them have; `null` where no stack was recorded");
  visit(2, "site", line.site,
        "the largest of its sites; of a leak, the one that leads it; `null` if `sites[]` does not have it");
  visit(3, "leak", line.leak, "the row is a leak with all of its parts");
  visit(4, "sites", line.sites, "call stacks");
  visit(5, "bytes", line.bytes);
  visit(6, "peak_without", line.peak_without, "what the peak would have been had none of them allocated anything");
  visit(7, "category", field::OrNull{line.category}, "what all of it is for; `null` if they differ");
}

struct ReportPeakLines {
  std::optional<uint32_t> device;
  uint64_t live = 0;
  std::vector<ReportPeakLine> lines;
  uint64_t other_sites = 0, other_bytes = 0;
};

template <>
inline constexpr const char* kAbout<ReportPeakLines> =
    "Who holds the memory at the peak of a device, or of the host: live = sum of lines + other_bytes";
template <class Visitor>
void Fields(Visitor& visit, ReportPeakLines& lines) {
  visit(1, "device", lines.device, "`null` for host memory");
  visit(2, "live", lines.live, "bytes at the peak");
  visit(3, "lines", lines.lines, "the most bytes first");
  visit(4, "other_sites", lines.other_sites, "that are in no line");
  visit(5, "other_bytes", lines.other_bytes, "of them");
}

struct ReportPeakStacks {
  struct Node {
    std::optional<uint64_t> parent;
    ReportSiteIndex site;
    uint64_t frame = 0;
    uint64_t bytes = 0;
    uint64_t sites = 0;
  };
  std::optional<uint32_t> device;
  uint64_t live = 0;
  std::vector<Node> nodes;
  uint64_t other_bytes = 0;
};

template <>
inline constexpr const char* kAbout<ReportPeakStacks::Node> =
    "A node is a frame of one of its sites; callers come before callees";
template <class Visitor>
void Fields(Visitor& visit, ReportPeakStacks::Node& node) {
  visit(1, "parent", node.parent, "the caller's number, `null` for an outermost frame");
  visit(2, "site", node.site);
  visit(3, "frame", node.frame, "index of one of the site's frames, which names the node");
  visit(4, "bytes", node.bytes, "of all sites whose stacks lead through it");
  visit(5, "sites", node.sites, "how many there are. What holds less than a 5,000th is part of its caller only");
}

template <>
inline constexpr const char* kAbout<ReportPeakStacks> =
    "The calls that lead to what is live at the peak of a device, or of the host: a tree, a column for each field of "
    "its nodes";
template <class Visitor>
void Fields(Visitor& visit, ReportPeakStacks& stacks) {
  visit(1, "device", stacks.device, "`null` for host memory");
  visit(2, "live", stacks.live, "bytes at the peak");
  visit(3, "nodes", field::Columns{stacks.nodes, true});
  visit(4, "other_bytes", stacks.other_bytes, "of sites that `sites[]` does not have, or without a stack");
}

}  // namespace vramtrack

#endif  // ANALYZER_MODEL_PEAK_H_
