// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <nlohmann/json.hpp>

#include "analyzer/base/display_text.h"
#include "analyzer/model/check_report.h"
#include "analyzer/render/check/check_output.h"

namespace vramtrack {
namespace {

using Json = nlohmann::ordered_json;

std::string Dump(const Json& json) { return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n"; }

Json Number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

template <typename T>
Json Optional(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json FindingJson(const CheckFinding& finding) {
  Json json;
  json["rule"] = finding.rule;
  json["status"] = WordsOf(finding.status).json;
  json["subject"] = finding.subject;
  json["message"] = finding.message;
  json["site"] = finding.site.empty() ? Json(nullptr) : Json(finding.site);
  json["key"] = finding.key;
  json["device"] = Optional(finding.device);
  json["rank"] = Optional(finding.rank);
  json["value"] = Number(finding.value);
  json["limit"] = finding.limit ? Number(*finding.limit) : Json(nullptr);
  json["unit"] = NameOf(finding.unit);
  json["file"] = finding.file;
  json["line"] = finding.line;
  json["exception"] = nullptr;
  if (!finding.expires.empty()) {
    json["exception"] = {{"reason", finding.reason}, {"expires", finding.expires}, {"expired", finding.expired}};
  }
  json["naming_frame"] = finding.naming_frame;
  json["frames"] = Json::array();
  for (const ReportFrame& frame : finding.frames) {
    json["frames"].push_back({{"function", frame.function}, {"file", frame.file}, {"line", frame.line}});
  }
  return json;
}

// Paths as the references that SARIF wants: what has a meaning there, and what is no ASCII, is written by its bytes.
std::string UriOf(const std::string& path) {
  constexpr char kHex[] = "0123456789ABCDEF";
  std::string uri = path.empty() || path[0] != '/' ? "" : "file://";
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    if (isalnum(byte) != 0 || std::string("-._~/").find(c) != std::string::npos) {
      uri += c;
    } else {
      uri += {'%', kHex[byte >> 4], kHex[byte & 15]};
    }
  }
  return uri;
}

Json LocationJson(const std::string& file, uint32_t line, const std::string& function) {
  Json location = Json::object();
  if (!file.empty()) {
    Json artifact = {{"uri", UriOf(file)}};
    if (file[0] != '/') artifact["uriBaseId"] = "%SRCROOT%";
    location["physicalLocation"]["artifactLocation"] = std::move(artifact);
    if (line > 0) location["physicalLocation"]["region"]["startLine"] = line;
  }
  if (!function.empty()) {
    location["logicalLocations"] = Json::array({{{"fullyQualifiedName", Printable(function)}, {"kind", "function"}}});
  }
  return location;
}

Json ResultJson(const CheckFinding& finding, size_t rule_index) {
  Json result;
  result["ruleId"] = finding.rule;
  result["ruleIndex"] = rule_index;
  result["level"] = WordsOf(finding.status).sarif;
  result["message"]["text"] = CheckSentence(finding);
  const bool framed = finding.naming_frame < finding.frames.size();
  Json location = LocationJson(finding.file, finding.line, framed ? finding.frames[finding.naming_frame].function : "");
  if (!location.empty()) result["locations"] = Json::array({std::move(location)});
  if (!finding.frames.empty()) {
    Json frames = Json::array();
    for (const ReportFrame& frame : finding.frames) {
      Json one = LocationJson(frame.file, frame.line, frame.function);
      frames.push_back(one.empty() ? Json::object() : Json({{"location", std::move(one)}}));
    }
    result["stacks"] =
        Json::array({{{"message", {{"text", "most recent call first"}}}, {"frames", std::move(frames)}}});
  }
  result["partialFingerprints"]["vramtrackSite/v1"] = finding.rule + "|" + finding.key;
  if (finding.status == CheckFinding::Status::kExcepted) {
    result["suppressions"] = Json::array({{{"kind", "external"}, {"justification", Printable(finding.reason)}}});
  }
  result["properties"]["value"] = Number(finding.value);
  if (finding.limit) result["properties"]["limit"] = Number(*finding.limit);
  result["properties"]["unit"] = NameOf(finding.unit);
  return result;
}

}  // namespace

std::string RenderCheckJson(const CheckReport& report) {
  Json json;
  json["schema_version"] = kCheckSchemaVersion;
  json["tool_version"] = report.tool_version;
  json["trace"] = report.trace;
  json["baseline"] = report.baseline.empty() ? Json(nullptr) : Json(report.baseline);
  const int code = ExitCodeOf(report);
  json["result"] = code == 0 ? "passed" : code == 1 ? "failed" : "not_enough_evidence";
  json["exit_code"] = code;
  json["evidence_note"] = report.evidence_note;
  json["steps"] = report.steps;
  json["sites"] = report.sites;
  json["devices"] = report.devices;
  json["failed"] = report.failed;
  json["warned"] = report.warned;
  json["excepted"] = report.excepted;
  json["rules"] = Json::array();
  constexpr const char* kResults[] = {"passed", "failed", "not_judged"};
  for (const CheckedRule& rule : report.rules) {
    json["rules"].push_back({{"rule", rule.rule},
                             {"result", kResults[static_cast<size_t>(rule.result)]},
                             {"checked", rule.checked},
                             {"note", rule.note}});
  }
  json["findings"] = Json::array();
  for (const CheckFinding& finding : report.findings) json["findings"].push_back(FindingJson(finding));
  json["warnings"] = report.warnings;
  return Dump(json);
}

std::string RenderCheckSarif(const CheckReport& report) {
  Json driver;
  driver["name"] = "vramtrack";
  driver["version"] = report.tool_version;
  driver["rules"] = Json::array();
  for (const CheckRule& rule : kCheckRules) {
    driver["rules"].push_back({{"id", rule.id},
                               {"shortDescription", {{"text", rule.title}}},
                               {"fullDescription", {{"text", rule.text}}},
                               {"defaultConfiguration", {{"level", "error"}}}});
  }
  Json results = Json::array();
  for (const CheckFinding& finding : report.findings) {
    size_t index = 0;
    while (index + 1 < kCheckRules.size() && finding.rule != kCheckRules[index].id) ++index;
    results.push_back(ResultJson(finding, index));
  }
  Json invocation = {{"executionSuccessful", true}, {"exitCode", ExitCodeOf(report)}};
  Json notes = Json::array();
  if (!report.enough_evidence) {
    notes.push_back(
        {{"level", "warning"}, {"message", {{"text", "not enough evidence: " + Printable(report.evidence_note)}}}});
  }
  for (const std::string& line : report.warnings) {
    notes.push_back({{"level", "note"}, {"message", {{"text", Printable(line)}}}});
  }
  if (!notes.empty()) invocation["toolExecutionNotifications"] = std::move(notes);
  Json run;
  run["tool"]["driver"] = std::move(driver);
  run["invocations"] = Json::array({std::move(invocation)});
  run["columnKind"] = "utf16CodeUnits";
  run["results"] = std::move(results);
  Json json;
  json["$schema"] = "https://json.schemastore.org/sarif-2.1.0.json";
  json["version"] = "2.1.0";
  json["runs"] = Json::array({std::move(run)});
  return Dump(json);
}

}  // namespace vramtrack
