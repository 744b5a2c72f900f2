// SPDX-License-Identifier: Apache-2.0
//
// print_matches BASE NEW [OLD=NEW...]: which site of one trace is which of the other, as JSON, one match a line. For
// the tests, which know from marks in the source what is right.
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "analyzer/diff/site_matching.h"
#include "analyzer/findings/core/process_analysis.h"
#include "analyzer/ingest/trace.h"
#include "analyzer/profile/make_step_profile.h"

namespace {

using nlohmann::json;

struct Side {
  explicit Side(const vramtrack::Trace& trace) : analysis(trace, options), profile(vramtrack::DescribeRun(&analysis)) {
    vramtrack::ReadFrames(&profile);
  }

  vramtrack::AnalyzeOptions options;
  vramtrack::ProcessAnalysis analysis;
  vramtrack::StepProfile profile;
};

json Sites(const Side& side, const std::vector<size_t>& members) {
  json list = json::array();
  for (const size_t i : members) {
    json frames = json::array();
    for (const vramtrack::ReportFrame& frame : side.profile.sites[i].frames) {
      frames.push_back({frame.file, frame.line, frame.function});
    }
    list.push_back(frames);
  }
  return list;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  std::vector<std::unique_ptr<vramtrack::Trace>> traces;
  for (int i = 1; i <= 2; ++i) {
    auto trace = vramtrack::Trace::Open(argv[i]);
    if (!trace.ok()) {
      std::fprintf(stderr, "%s\n", std::string(trace.status().message()).c_str());
      return 2;
    }
    traces.push_back(*std::move(trace));
  }
  const Side base(*traces[0]), next(*traces[1]);
  vramtrack::RenameMap renames;
  for (int i = 3; i < argc; ++i) {
    const std::string rename = argv[i];
    renames.push_back({rename.substr(0, rename.find('=')), rename.substr(rename.find('=') + 1)});
  }
  const vramtrack::SiteMatching matching = MatchSites(base.profile.sites, next.profile.sites, renames);
  for (const vramtrack::SiteMatch& match : matching.matches) {
    std::printf("%s\n", json({{"base", Sites(base, match.base)}, {"new", Sites(next, match.next)}}).dump().c_str());
  }
  for (const auto& [old, now] : matching.inferred)
    std::fprintf(stderr, "renamed: %s to %s\n", old.c_str(), now.c_str());
}
