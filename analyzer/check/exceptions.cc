// SPDX-License-Identifier: Apache-2.0
#include "analyzer/check/exceptions.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "analyzer/base/display_text.h"
#include "analyzer/check/limit_kinds.h"
#include "analyzer/check/limits.h"

namespace vramtrack {
namespace {

bool IsFor(const CheckException& exception, const CheckFinding& finding) {
  const std::vector<std::string>& rules = exception.rules;
  if (!rules.empty() && std::find(rules.begin(), rules.end(), finding.rule) == rules.end()) return false;
  if (!exception.site.empty() && exception.site != finding.site) return false;
  if (exception.device && exception.device != finding.device) return false;
  if (exception.frame.empty()) return true;
  return std::any_of(finding.frames.begin(), finding.frames.end(),
                     [&](const ReportFrame& frame) { return exception.frame.Matches(frame); });
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
