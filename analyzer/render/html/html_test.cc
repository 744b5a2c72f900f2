// SPDX-License-Identifier: Apache-2.0
#include "analyzer/render/html/html.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <functional>
#include <string>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "analyzer/render/html/columns.h"
#include "analyzer/render/html/markup.h"
#include "analyzer/render/html/page_words.h"
#include "analyzer/render/json/json.h"
#include "analyzer/render/testing/sample_reports.h"
#include "analyzer/render/text/text.h"
#include "analyzer/render/words/answer_words.h"

namespace vramtrack {
namespace {

std::string Gunzip(const std::string& packed) {
  z_stream stream{};
  EXPECT_EQ(inflateInit2(&stream, 15 + 16), Z_OK);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  stream.avail_in = static_cast<uInt>(packed.size());
  std::string text, piece(1 << 16, '\0');
  int state = Z_OK;
  while (state == Z_OK) {
    stream.next_out = reinterpret_cast<Bytef*>(&piece[0]);
    stream.avail_out = static_cast<uInt>(piece.size());
    state = inflate(&stream, Z_NO_FLUSH);
    text.append(piece, 0, piece.size() - stream.avail_out);
  }
  EXPECT_EQ(state, Z_STREAM_END);
  inflateEnd(&stream);
  return text;
}

// What is between `begin` and `end`.
std::string Between(const std::string& text, const std::string& begin, const std::string& end) {
  const size_t from = text.find(begin);
  EXPECT_NE(from, std::string::npos) << begin;
  if (from == std::string::npos) return "";
  const size_t to = text.find(end, from + begin.size());
  return text.substr(from + begin.size(), to - from - begin.size());
}

size_t Count(const std::string& text, const std::string& what) {
  size_t count = 0;
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++count;
  return count;
}

Json DataOf(const std::string& page) {
  std::string packed;
  EXPECT_TRUE(absl::Base64Unescape(Between(page, "application/octet-stream\">", "</script>"), &packed));
  return Json::parse(Gunzip(packed));
}

// A value of one of SiteColumns' columns.
Json At(const Json& column, size_t row) {
  if (column.is_array()) return column[row];
  const auto at = column["at"][row].get<int64_t>();
  return at < 0 ? Json(nullptr) : column["values"][static_cast<size_t>(at)];
}

const std::function<Report()> kSamples[] = {LeakSample,      NoLeakSample,      TooShortSample, OutOfMemorySample,
                                            ManySitesSample, HostileTextSample, MarkupSample,   PyTorchSample,
                                            RanksSample,     EmptySample};

TEST(Packed, IsGzipOfTheTextInBase64) {
  std::string long_text;
  for (int i = 0; i < 100000; ++i) absl::StrAppend(&long_text, i * 2654435761u, " ");
  for (const std::string& text : {std::string(), std::string("a\0b", 3), long_text}) {
    std::string packed;
    ASSERT_TRUE(absl::Base64Unescape(GzipBase64(text), &packed));
    EXPECT_EQ(Gunzip(packed), text);
    EXPECT_EQ(GzipBase64(text), GzipBase64(text));
  }
}

TEST(EscapeHtml, LeavesNoMarkupAndNoControlCharacters) {
  EXPECT_EQ(EscapeHtml("<a b='c' d=\"e\">&\n"), "&lt;a b=&#39;c&#39; d=&quot;e&quot;&gt;&amp;\\x0a");
}

TEST(SiteColumns, HoldWhatTheJsonHolds) {
  for (const auto& sample : kSamples) {
    const Report report = sample();
    const Json json = Json::parse(RenderJson(report));
    // Texts are written out as in the page, where what is no UTF-8 is replaced.
    const Json columns =
        Json::parse(SiteColumns(report, SIZE_MAX).dump(-1, ' ', false, Json::error_handler_t::replace));
    ASSERT_EQ(columns["count"], json["sites"].size());
    for (size_t row = 0; row < report.sites.size(); ++row) {
      const Json& site = json["sites"][row];
      for (const auto& [name, value] : site.items()) {
        if (name != "frames" && name != "text" && name != "rate") {  // the page has words of its own
          EXPECT_EQ(At(columns["fields"][name], row), value) << name;
        }
      }
      auto node = columns["stack"][row].get<int64_t>();
      for (const Json& frame : site["frames"]) {
        ASSERT_GE(node, 0);
        const auto number = columns["stacks"]["frame"][static_cast<size_t>(node)].get<size_t>();
        for (const char* name : {"function", "file", "line", "module", "offset", "language"}) {
          EXPECT_EQ(At(columns["frames"][name], number), frame[name]);
        }
        node = columns["stacks"]["parent"][static_cast<size_t>(node)].get<int64_t>();
      }
      EXPECT_EQ(node, -1);
      EXPECT_LT(columns["place"][row].get<int64_t>(), static_cast<int64_t>(site["frames"].size()));
    }
  }
}

TEST(RenderHtml, HoldsTheReportAndIsTheSameEachTime) {
  for (const auto& sample : kSamples) {
    const Report report = sample();
    const std::string page = RenderHtml(report);
    EXPECT_EQ(page, RenderHtml(sample()));
    Json data = DataOf(page);
    Json json = Json::parse(RenderJson(report));
    data.erase("sites");
    data.erase("source");
    const Json words = data["words"];
    EXPECT_EQ(words["devices"].size(), report.devices.size());
    EXPECT_EQ(words["oom"].size(), report.oom.size());
    EXPECT_EQ(words["ranks"].size(), report.ranks.size());
    EXPECT_EQ(words["peak"].size(), report.peak_lines.size());
    data.erase("words");
    json.erase("sites");
    EXPECT_EQ(data, json);
  }
}

TEST(RenderHtml, AsksForNothingAndRunsNothingElse) {
  for (const auto& sample : kSamples) {
    const std::string page = RenderHtml(sample());
    const std::string policy = Between(page, "Content-Security-Policy\" content=\"", "\"");
    EXPECT_TRUE(absl::StartsWith(policy, "default-src 'none'; ")) << policy;
    EXPECT_FALSE(absl::StrContains(policy, "unsafe")) << policy;
    // Before anything that it is to hold for.
    EXPECT_LT(page.find("Content-Security-Policy"), page.find("<style>"));
    // Whatever names say, there are these elements and no others; in the bundle itself, texts are no elements.
    std::string markup = page;
    markup.erase(markup.find(std::string(kPageParts.script)), kPageParts.script.size());
    EXPECT_EQ(Count(markup, "<script"), 2u);
    EXPECT_EQ(Count(markup, "</script"), 2u);
    EXPECT_EQ(Count(markup, "<noscript"), 1u);
    EXPECT_EQ(Count(markup, "</noscript"), 1u);
    EXPECT_EQ(Count(markup, "<style"), 1u);
    EXPECT_EQ(Count(markup, "</pre"), 1u);
    EXPECT_EQ(Count(markup, "<img"), 0u);
    EXPECT_EQ(Count(markup, "<!--"), 0u);
    // With the colon: the report's data in base 64 may have the letters by chance.
    EXPECT_EQ(Count(markup, "http:"), 0u);
    EXPECT_EQ(Count(markup, "https:"), 0u);
  }
}

TEST(RenderHtml, HasTheSentencesOfTheText) {
  for (const auto& sample : kSamples) {
    const Report report = sample();
    TextStyle style;
    style.columns = 100000;  // no sentence is broken
    style.unicode = true;
    const std::string text = RenderText(report, style, {1000, /*verbose=*/true, {}, false});
    const Json words = DataOf(RenderHtml(report))["words"];
    for (const Json& device : words["devices"]) {
      for (const char* rows : {"memory", "fragmentation"}) {
        for (const Json& row : device[rows]) {
          EXPECT_TRUE(absl::StrContains(text, row[1].get<std::string>())) << row;
        }
      }
    }
    if (words["oom"].empty()) continue;
    for (const Json& note : words["oom"].back()["notes"]) {
      EXPECT_TRUE(absl::StrContains(text, note.get<std::string>())) << note;
    }
  }
}

TEST(RenderHtml, LeadsWithTheAnswerInWords) {
  const std::string page = RenderHtml(LeakSample());
  EXPECT_LT(page.find("leaks <strong>4.00 MiB per step</strong>"), page.find("<noscript>"));
  EXPECT_EQ(Between(page, "<title>", "</title>"),
            "4.00 MiB per step at testdata/transformer/attention.cu:87 - vramtrack");
  EXPECT_TRUE(absl::StrContains(RenderHtml(NoLeakSample()), "<p class=\"verdict\">NO LEAK</p>"));
  EXPECT_TRUE(absl::StrContains(RenderHtml(TooShortSample()), "<p class=\"verdict\">NOT ENOUGH EVIDENCE</p>"));
  const std::string failed = RenderHtml(OutOfMemorySample());
  EXPECT_LT(failed.find("OUT OF MEMORY"), failed.find("LEAK</p>"));
}

TEST(RenderHtml, GivesTheEvidenceOfALeakAsTheTextDoes) {
  for (const auto& sample : {LeakSample, PyTorchSample, RanksSample}) {
    const Report report = sample();
    const std::string evidence = ShortEvidence(report, *LeaksByPlace(report)[0].site);
    EXPECT_FALSE(evidence.empty());
    TextStyle style;
    style.columns = 100000;
    EXPECT_TRUE(absl::StrContains(RenderText(report, style), "\n      " + evidence + "\n")) << evidence;
    EXPECT_TRUE(absl::StrContains(RenderHtml(report), "<p>" + EscapeHtml(evidence) + "</p>")) << evidence;
  }
}

TEST(RenderHtml, SaysEachReasonWhyTheAnswerIsNotSure) {
  Report report = TooShortSample();
  report.reasons = {{"few_steps", "the run is short"}, {"lost_frees", "<frees> were lost"}};
  const std::string page = RenderHtml(report);
  const std::string answer = Between(page, "<p class=\"verdict\">NOT ENOUGH EVIDENCE</p>", "</section>");
  EXPECT_TRUE(absl::StrContains(answer, "<h1>the run is short")) << answer;
  EXPECT_TRUE(absl::StrContains(answer, "<p>&lt;frees&gt; were lost</p>")) << answer;
  const Json reasons = DataOf(page)["reasons"];
  ASSERT_EQ(reasons.size(), 2u);
  EXPECT_EQ(reasons[1]["id"], "lost_frees");
}

TEST(RenderHtml, ShowsTheTextWhereNoScriptsRun) {
  const std::string page = RenderHtml(RanksSample());
  const std::string text = Between(page, "<pre class=\"text-report\">", "</pre>");
  EXPECT_TRUE(absl::StrContains(text, "train.py:42")) << text;
  EXPECT_TRUE(absl::StrContains(text, "rank 2")) << text;
}

TEST(PeakUses, SetsTheLeakApartFromItsCategory) {
  for (const auto& sample : kSamples) {
    const Report report = sample();
    for (const ReportDevice& device : report.devices) {
      uint64_t of_categories = 0, of_uses = 0, of_leaks = 0;
      for (const ReportPeakCategory& one : device.peak_set.categories) of_categories += one.bytes;
      for (const PeakUse& use : PeakUses(report, SitePlaces(report), device)) {
        of_uses += use.bytes;
        EXPECT_EQ(use.category.empty(), absl::StartsWith(use.label, "leak ")) << use.label;
        if (use.category.empty()) {
          of_leaks += use.bytes;
        } else {
          EXPECT_LE(use.bytes, of_categories - of_leaks);
        }
      }
      EXPECT_EQ(of_uses, of_categories);
    }
  }
  Report report = LeakSample();
  report.sites[0].category = "unknown";
  report.sites[0].bytes_at_peak = 3 << 20;
  ReportPeakCategory all;
  all.name = "unknown";
  all.bytes = 5 << 20;
  report.devices[0].peak_set.categories = {all};
  const std::vector<PeakUse> uses = PeakUses(report, SitePlaces(report), report.devices[0]);
  ASSERT_EQ(uses.size(), 2u);
  EXPECT_EQ(uses[0].label, "leak attention.cu:87");
  EXPECT_EQ(uses[0].bytes, 3u << 20);
  EXPECT_EQ(uses[1].category, "unknown");
  EXPECT_EQ(uses[1].bytes, 2u << 20);
}

TEST(RenderDiffHtml, BothRunsHaveOneCategoryForASite) {
  DiffRuns runs{LeakSample(), LeakSample()};
  ReportSite& site = runs.base.sites[1];
  const uint64_t bytes = site.bytes_at_peak;
  const auto says = [&bytes](Report* run, const std::string& category) {
    run->sites[1].category = category;
    run->devices[0].peak_set.categories = {{category, bytes, 1, {}}};
    ReportComposition& composition = run->timeline[0].at_high;
    composition.categories = {{category, std::vector<uint64_t>(run->timeline[0].position.size(), bytes)}};
    composition.sites = {{ReportSiteIndex(1), composition.categories[0].second}};
  };
  says(&runs.base, "unknown");
  says(&runs.next, "parameters");
  DiffReport report;
  report.devices.resize(1);
  const std::string page = RenderDiffHtml(report, runs);
  EXPECT_TRUE(absl::StrContains(page, "of that parameters")) << page;
  EXPECT_FALSE(absl::StrContains(page, "of that unknown use")) << page;
  const Json data = DataOf(page);
  for (const char* run : {"base", "next"}) {
    EXPECT_EQ(At(data[run]["sites"]["fields"]["category"], 1), "parameters");
    for (const Json& value : data[run]["timeline"][0]["at_high"]["categories"]["parameters"]) EXPECT_EQ(value, bytes);
  }
}

TEST(RenderHtml, ListsAsManySitesAsFit) {
  const Report report = ManySitesSample();
  const size_t whole = RenderHtml(report).size();
  const std::string page = RenderHtml(report, {}, whole - 1);
  EXPECT_LT(page.size(), whole);
  const Json data = DataOf(page);
  EXPECT_EQ(data["sites"]["count"], report.sites.size() / 2);
  EXPECT_GE(DataOf(RenderHtml(report, {}, 1))["sites"]["count"], 50u);
}

}  // namespace
}  // namespace vramtrack
