// SPDX-License-Identifier: Apache-2.0
//
// What the comparison of two runs found, as plain data: the renderers and `check` read it and compute nothing. Names
// are those of the JSON (docs/diff.md), bytes are integers.
#ifndef ANALYZER_MODEL_DIFF_REPORT_H_
#define ANALYZER_MODEL_DIFF_REPORT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/model/report.h"

namespace vramtrack {

constexpr int kDiffSchemaVersion = 1;

// One of the two runs.
struct DiffSide {
  std::vector<std::string> paths;
  std::vector<ReportProcess> processes;
  ReportSteps steps;
};

struct DiffValue {
  double base = 0, next = 0;  // "new" in JSON
  bool significant = false;   // more than the run's own spread, and enough to matter

  double delta() const { return next - base; }
};

struct DiffDevice {
  uint32_t index = 0;
  DiffValue peak;                                             // bytes live
  DiffValue reserved_peak;                                    // bytes
  DiffValue growth;                                           // bytes per rate_unit
  DiffValue fragmentation;                                    // bytes reserved at the peak and not live
  std::vector<std::pair<std::string, DiffValue>> categories;  // bytes live at the peak
};

struct DiffFinding {
  std::string level, kind, category;
  std::optional<uint32_t> device;                  // none: host memory
  std::optional<std::string> base_site, new_site;  // ids, as in the reports; none: the site is not there
  std::vector<ReportFrame> frames;                 // of the new run where it is there, most recent call first
  size_t naming_frame = 0;                         // the frame that names it
  double base_value = 0, new_value = 0;
  // What the values are: "bytes_live_per_step" (left behind by a step), "bytes_at_peak" (of the device),
  // "bytes_per_step" (allocated by a step) or "objects_per_step" (left behind).
  std::string unit;
  std::string rate_unit = "step";     // what rates are per, as ReportSite has it
  std::optional<double> p_value;      // none: not tested
  std::optional<double> effect_size;  // Cliff's delta, -1 to 1
  bool leak = false;                  // the new run's verdict for the site is a leak
  bool base_leak = false;             // that of the base was
  std::string explanation;            // one sentence
  // Of a leak: its other sites, whose values are in those above; the largest first. They have no parts.
  std::vector<DiffFinding> parts;

  double delta() const { return new_value - base_value; }
};

// Whether its values are of what a step leaves behind: a leak, new, gone or changed.
inline bool IsRate(const DiffFinding& finding) {
  return finding.unit == "bytes_live_per_step" || finding.unit == "objects_per_step";
}

struct DiffDivergence {
  uint64_t event = 0;       // the number of the allocation or free, from 0
  std::optional<int> rank;  // of the process
  // No frames on the side that ends there.
  std::vector<ReportFrame> base_frames, new_frames;
};

struct DiffReport {
  std::string tool_version;
  DiffSide base, next;
  bool comparable = true;
  std::string reason;      // why not; empty if it is
  bool identical = false;  // the same allocations and frees in the same order
  bool reordered = false;  // the same ones in another order
  bool tested = false;     // there were steps enough to tell a change from chance
  uint64_t events = 0;     // allocations and frees of the new run that were compared
  uint64_t matched_sites = 0;
  uint64_t small_changes = 0;  // sites that changed too little to be findings
  std::optional<DiffDivergence> first_divergence;
  // Names that are taken to have changed: (base's, the new run's), beside those that the caller gave.
  std::vector<std::pair<std::string, std::string>> inferred_renames;
  std::string rate_unit = "step";  // what rates are per, as ReportSite has it
  std::string normaliser;          // what makes steps of the two runs comparable, in words; empty: nothing had to
  std::vector<DiffDevice> devices;
  std::vector<DiffFinding> added, gone, grown, shrunk, moved;  // "new" in JSON; the largest first
  std::vector<std::string> warnings;
};

}  // namespace vramtrack

#endif  // ANALYZER_MODEL_DIFF_REPORT_H_
