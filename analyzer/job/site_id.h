// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_JOB_SITE_ID_H_
#define ANALYZER_JOB_SITE_ID_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/model/report.h"

namespace vramtrack {

// Returns a site with only the fields from which its id is made. `kind`: schema::Kind; `segments`: it is one of a
// framework's segments.
ReportSite SiteOutline(uint32_t kind, bool segments, std::optional<uint32_t> device, std::vector<ReportFrame> frames);

// Returns the text from which a site's id is made. It does not change when lines move or in another run.
std::string SiteIdentity(const ReportSite& site);

// Returns eight hexadecimal digits. Sites with the same functions have the same digits.
std::string SiteId(const ReportSite& site);

// Returns a key that is equal for sites that a reader cannot distinguish: the same frames at the same lines. Addresses
// may differ if there are lines.
std::string SameSiteKey(const ReportSite& site);

// Returns a hash of frames that is equal for the same frames at the same lines, as in SameSiteKey. Builds no text, as
// a job has millions of stacks.
size_t FramesHash(const std::vector<ReportFrame>& frames);
bool IsSameStack(const std::vector<ReportFrame>& a, const std::vector<ReportFrame>& b);

// Returns a hash of a site's code, regardless of the device. Sites of one place and one device are one site.
size_t PlaceHash(const ReportSite& site);
bool IsSamePlace(const ReportSite& a, const ReportSite& b);

// Gives each site its id. Sites with the same functions but different lines share a hash and get a number by their
// order. Sites from index `reported` on come after the others and do not change their ids.
void AssignIds(size_t reported, std::vector<ReportSite>* sites);

// Findings are made with useful frames, whether or not the report shows all frames: ids, lines and counts are the same
// with --raw-stacks. Returns the index in `raw` of each frame of `useful`. `raw` has the same frames and more between
// them. Both are innermost first.
std::vector<uint64_t> IndicesInRaw(const std::vector<ReportFrame>& useful, const std::vector<ReportFrame>& raw);

// Replaces a site's frames by its `raw_frames`, if it has any. Call it after the site has its id.
void ShowRawFrames(ReportSite* site);

}  // namespace vramtrack

#endif  // ANALYZER_JOB_SITE_ID_H_
