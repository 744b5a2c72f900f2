// SPDX-License-Identifier: Apache-2.0
#include "analyzer/check/exceptions.h"

#include <fnmatch.h>

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "analyzer/base/display_text.h"
#include "analyzer/check/limits.h"
#include "analyzer/check/measured.h"
#include "analyzer/model/frame_text.h"

namespace vramtrack {
namespace {

bool Matches(const std::string& pattern, const std::string& text) {
  return fnmatch(pattern.c_str(), text.c_str(), FNM_NOESCAPE) == 0;
}

// A path may be given from any of its folders on.
bool MatchesPath(const std::string& pattern, const std::string& path) {
  if (path.empty()) return false;
  if (Matches(pattern, path)) return true;
  for (size_t at = path.find('/'); at != std::string::npos; at = path.find('/', at + 1)) {
    if (Matches(pattern, path.substr(at + 1))) return true;
  }
  return false;
}

bool IsFor(const CheckException& exception, const ReportFrame& frame) {
  if (!exception.function.empty() && !Matches(exception.function, frame.function) &&
      !Matches(exception.function, FrameFunction(frame))) {
    return false;
  }
  return exception.file.empty() || MatchesPath(exception.file, frame.file);
}

bool IsFor(const CheckException& exception, const CheckFinding& finding) {
  const std::vector<std::string>& rules = exception.rules;
  if (!rules.empty() && std::find(rules.begin(), rules.end(), finding.rule) == rules.end()) return false;
  if (!exception.site.empty() && exception.site != finding.site) return false;
  if (exception.device && exception.device != finding.device) return false;
  if (exception.function.empty() && exception.file.empty()) return true;
  return std::any_of(finding.frames.begin(), finding.frames.end(),
                     [&](const ReportFrame& frame) { return IsFor(exception, frame); });
}

}  // namespace

void ExceptionList::Apply(CheckFinding* finding) {
  for (size_t i = 0; i < exceptions_.size(); ++i) {
    const CheckException& exception = exceptions_[i];
    if (!IsFor(exception, *finding)) continue;
    used_[i] = true;
    finding->reason = exception.reason;
    finding->expires = exception.expires ? absl::FormatCivilTime(*exception.expires) : "never";
    if (exception.expires && *exception.expires < today_) {
      finding->expired = true;
      absl::StrAppend(&finding->message, "; the exception for it expired on ", finding->expires, " (", exception.place,
                      ": ", Printable(exception.reason), ")");
      continue;  // another one may hold
    }
    // A rate per something else cannot be held against it.
    const bool is_rate = IsByteRate(finding->unit);
    const bool compares =
        !is_rate || !exception.up_to || finding->unit == UnitOf(LimitUnit::kBytesPerStep, false, exception.up_to->per);
    if (exception.up_to && (!compares || finding->value > exception.up_to->value)) {
      const LimitUnit unit = compares ? LimitUnit::kBytes : LimitUnit::kBytesPerStep;
      absl::StrAppend(&finding->message, "; the exception for it is up to ", FormatLimit(*exception.up_to, unit), " (",
                      exception.place, ")");
      continue;
    }
    finding->expired = false;
    finding->status = CheckFinding::Status::kExcepted;
    return;
  }
}

std::vector<std::string> ExceptionList::Unused() const {
  std::vector<std::string> lines;
  for (size_t i = 0; i < exceptions_.size(); ++i) {
    if (used_[i]) continue;
    lines.push_back(absl::StrCat(exceptions_[i].place, ": the exception is for nothing that was found (",
                                 Printable(exceptions_[i].reason), ")"));
  }
  return lines;
}

}  // namespace vramtrack
