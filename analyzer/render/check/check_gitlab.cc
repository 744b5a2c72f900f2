// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "analyzer/base/display_text.h"
#include "analyzer/render/check/check_output.h"

namespace vramtrack {

std::string RenderCheckGitlab(const CheckReport& report) {
  using Json = nlohmann::ordered_json;
  Json list = Json::array();
  for (const CheckFinding& finding : report.findings) {
    // There is no way to say that something is known: what is listed counts as worse.
    if (finding.status == CheckFinding::Status::kExcepted) continue;
    Json one;
    one["description"] = CheckSentence(finding);
    one["check_name"] = finding.rule;
    // The same in every run, so that what was there before is not taken for new.
    one["fingerprint"] = finding.rule + "|" + Printable(finding.key);
    one["severity"] = finding.status == CheckFinding::Status::kFailed ? "major" : "minor";
    // A place is asked for; what is about a device has none but the run.
    const std::string& place = finding.file.empty() ? report.trace : finding.file;
    one["location"]["path"] = place.empty() ? "trace" : Printable(place);
    one["location"]["lines"]["begin"] = finding.file.empty() || finding.line == 0 ? 1 : finding.line;
    list.push_back(std::move(one));
  }
  return list.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace vramtrack
