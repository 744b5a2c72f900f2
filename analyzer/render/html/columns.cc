// SPDX-License-Identifier: Apache-2.0
#include "analyzer/render/html/columns.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "analyzer/model/frame_text.h"
#include "analyzer/model/site_places.h"
#include "analyzer/render/json/json_fields.h"
#include "analyzer/render/words/answer_words.h"
#include "analyzer/render/words/finding_words.h"

namespace vramtrack {
namespace {

// One column: where there are texts, the different ones and which of them each row has; -1 is null.
Json Column(Json values) {
  if (std::none_of(values.begin(), values.end(), [](const Json& value) { return value.is_string(); })) return values;
  std::unordered_map<std::string, int64_t> numbers;
  Json texts = Json::array(), at = Json::array();
  for (Json& value : values) {
    if (!value.is_string()) {
      at.push_back(-1);
      continue;
    }
    const auto [found, is_new] =
        numbers.try_emplace(value.get_ref<const std::string&>(), static_cast<int64_t>(numbers.size()));
    if (is_new) texts.push_back(found->first);
    at.push_back(found->second);
  }
  Json column;
  column["values"] = std::move(texts);
  column["at"] = std::move(at);
  return column;
}

// Objects of the same fields, field by field.
class Table {
 public:
  void Add(Json row) {
    for (auto& [name, value] : row.items()) columns_[name].push_back(std::move(value));
  }
  Json Finish() {
    Json table = Json::object();
    for (auto& [name, values] : columns_) table[name] = Column(std::move(values));
    return table;
  }

 private:
  std::map<std::string, Json> columns_;
};

class StackTree {
 public:
  // The node of the innermost frame, -1 if there is none.
  int64_t Add(const std::vector<ReportFrame>& frames) {
    int64_t node = -1;
    const bool python = std::any_of(frames.begin(), frames.end(),
                                    [](const ReportFrame& frame) { return frame.language == Language::kPython; });
    for (auto frame = frames.rbegin(); frame != frames.rend(); ++frame) {
      const auto [found, is_new] = nodes_.try_emplace(std::make_pair(node, FrameOf(*frame, python)), nodes_.size());
      if (is_new) {
        parents_.push_back(node);
        frames_of_nodes_.push_back(found->first.second);
      }
      node = found->second;
    }
    return node;
  }
  Json FinishStacks() {
    Json stacks;
    stacks["parent"] = std::move(parents_);
    stacks["frame"] = std::move(frames_of_nodes_);
    return stacks;
  }
  Json FinishFrames() { return frames_.Finish(); }

 private:
  // All that tells one row of the frames' table from another; the report has the texts.
  using Key = std::tuple<absl::string_view, absl::string_view, absl::string_view, absl::string_view, Language, uint32_t,
                         uint64_t, int, int>;
  static absl::string_view View(const std::string& text) { return {text.data(), text.size()}; }

  // `python`: its stack has Python, so that what is native is a library's.
  int64_t FrameOf(const ReportFrame& frame, bool python) {
    const bool own = frame.origin == ReportFrame::Origin::kJob && (!python || frame.language == Language::kPython);
    const int flags = (own ? 1 : 0) + (frame.forward ? 2 : 0) + (frame.inlined ? 4 : 0) + (frame.installed ? 8 : 0);
    const auto [found, is_new] =
        numbers_.try_emplace(Key(View(frame.function), View(frame.file), View(frame.module), View(frame.shown_file),
                                 frame.language, frame.line, frame.offset, flags, static_cast<int>(frame.origin)),
                             static_cast<int64_t>(numbers_.size()));
    if (!is_new) return found->second;
    frames_.Add(PageFrame(frame, own));
    return found->second;
  }

  absl::flat_hash_map<Key, int64_t> numbers_;
  Table frames_;
  absl::flat_hash_map<std::pair<int64_t, int64_t>, int64_t> nodes_;
  Json parents_ = Json::array(), frames_of_nodes_ = Json::array();
};

// What is said of a leak, and, in `places`, the frames that tell the sites of it from each other.
Json LeakWords(const Report& report, const ReportSite& leader, const LeakParts& parts, std::vector<int64_t>* places) {
  Json facts = UseSentences(leader), lines = Json::array();
  if (const std::string across = AcrossRanks(leader); !across.empty()) facts.insert(facts.begin(), across);
  if (leader.parts > 0) {
    for (const LeakPart& part : parts.Of(leader)) {
      const auto row = static_cast<size_t>(part.site - report.sites.data());
      if (row < places->size() && part.place != nullptr) (*places)[row] = part.place - part.site->frames.data();
    }
    for (const LineOfLeak& line : parts.LinesOf(leader)) {
      Json sites = Json::array();
      for (const ReportSite* site : line.sites) sites.push_back(site->id);
      lines.push_back({{"place", line.place}, {"rate", line.rate}, {"sites", std::move(sites)}});
    }
  }
  return {{"rate", LeakRate(leader)},
          {"certainty", Certainty(report, leader)},
          {"evidence", ShortEvidence(report, leader)},
          {"facts", std::move(facts)},
          {"lines", std::move(lines)}};
}

}  // namespace

Json PageFrame(const ReportFrame& frame, bool own) {
  Json json = ToJson(frame);
  json.erase("short_name");
  json["forward"] = frame.forward ? 1 : 0;  // which the report's JSON has of some only
  json["own"] = own ? 1 : 0;
  json["location"] = FrameLocation(frame);
  json["short"] = FrameFunction(frame);
  return json;
}

Json SiteColumns(const Report& report, size_t most) {
  const SitePlaces places(report);
  const LeakParts parts(report);
  const size_t count = std::min(most, report.sites.size());
  std::vector<int64_t> part_places(count, -1);
  Table fields;
  StackTree tree;
  Json stack = Json::array(), place = Json::array();
  for (size_t i = 0; i < count; ++i) {
    const ReportSite& site = report.sites[i];
    Json row = ObjectWithout("frames", site, &report.sites);
    row.erase("frames");
    row.erase("text");
    const bool grows = site.rate_bytes_per_step != 0 || site.rate_objects_per_step != 0;
    row["rate"] = grows ? Json(OwnRate(site)) : Json(nullptr);
    row["words"] =
        IsLeak(site) && site.part_of.is_none() ? LeakWords(report, site, parts, &part_places) : Json(nullptr);
    fields.Add(std::move(row));
    stack.push_back(tree.Add(site.frames));
    const ReportFrame* named = places.Of(site);
    place.push_back(named == nullptr ? -1 : named - site.frames.data());
  }
  Json columns;
  columns["count"] = count;
  columns["fields"] = fields.Finish();
  columns["stack"] = std::move(stack);
  columns["place"] = std::move(place);
  columns["part_place"] = part_places;
  columns["stacks"] = tree.FinishStacks();
  columns["frames"] = tree.FinishFrames();
  return columns;
}

}  // namespace vramtrack
