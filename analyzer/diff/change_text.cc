// SPDX-License-Identifier: Apache-2.0
#include "analyzer/diff/change_text.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "analyzer/attribution/blame.h"
#include "analyzer/base/byte_count.h"

namespace vramtrack {
namespace {

bool SameShownPlace(const ReportFrame& a, const ReportFrame& b) {
  return a.function == b.function && a.line == b.line &&
         (a.shown_file.empty() ? a.file : a.shown_file) == (b.shown_file.empty() ? b.file : b.shown_file);
}

}  // namespace

std::string ExplainChange(const SitePair& pair, const SiteChange& change, const std::string& rate_unit) {
  const std::string old = FormatByteCount(change.base), now = FormatByteCount(change.next);
  const std::string per = absl::StrCat(" per ", rate_unit);
  if (change.unit == "bytes_live_per_step") {
    if (!pair.next.leak) return absl::StrCat("no longer leaks ", old, per);
    return pair.base.leak ? absl::StrCat("leaks ", now, per, ", where it leaked ", old)
                          : absl::StrCat("leaks ", now, per, ", which the base does not");
  }
  if (change.unit == "objects_per_step") {
    return absl::StrCat("leaves ", change.next, " objects behind", per, ", where it left ", change.base);
  }
  if (change.unit == "bytes_at_peak") {
    if (!pair.base.present) return absl::StrCat("holds ", now, " at the peak, and was not there before");
    if (!pair.next.present) return absl::StrCat("held ", old, " at the peak, and is not there any more");
    return absl::StrCat("holds ", now, " at the peak, where it held ", old);
  }
  const char* in = rate_unit == "step" ? " in a step" : " in a window";
  if (!pair.base.present) return absl::StrCat("allocates ", now, in, ", and was not there before");
  if (!pair.next.present) return absl::StrCat("allocated ", old, in, ", and is not there any more");
  return absl::StrCat("allocates ", now, in, ", where it allocated ", old);
}

bool LooksMoved(const std::vector<ReportFrame>& old, const std::vector<ReportFrame>& now) {
  return !std::equal(old.begin(), old.end(), now.begin(), now.end(), SameShownPlace);
}

size_t FirstDifference(const std::vector<ReportFrame>& old, const std::vector<ReportFrame>& now) {
  for (size_t i = 0; i < std::min(old.size(), now.size()); ++i) {
    if (!SameShownPlace(old[i], now[i])) return i;
  }
  return 0;
}

std::string PlaceFrom(const DiffSite& site, size_t from) {
  if (site.frames.empty()) return "an unknown place";
  const ReportFrame& frame = site.frames[NamingFrame(site.frames, std::min(from, site.frames.size() - 1))];
  const std::string& file = frame.shown_file.empty() ? frame.file : frame.shown_file;
  if (file.empty()) return frame.function;
  return frame.line == 0 ? file : absl::StrCat(file, ":", frame.line);
}

}  // namespace vramtrack
