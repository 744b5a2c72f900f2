// SPDX-License-Identifier: Apache-2.0
//
// Code that is made or loaded again under other names is one line.
#include <gtest/gtest.h>

#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "analyzer/findings/testing/find_in_job.h"

namespace vramtrack {
namespace {

constexpr uint64_t kMiB = 1 << 20;

// Each step runs code of a name of its own, which keeps something. Returns what the lines that grow are.
std::vector<ReportGrowthLine> LinesOfCopies(const std::string& before, const std::string& after) {
  JobBuilder job({{"python3", "train.py"}});
  job.Device(65536 * kMiB);
  std::deque<std::string> names;
  for (int step = 0; step < 80; ++step) {
    names.push_back(absl::StrCat(before, 17 + step, after));
    job.Free(job.Allocate(job.Python({{"forward", 40}}), 8 * kMiB));
    job.Allocate(job.Python({{"keep", 3, names.back().c_str()}}), kMiB);
    job.EndStep();
  }
  const ProcessFindings findings = FindInJob(&job);
  if (findings.devices.empty() || !findings.devices[0].growth) return {};
  const std::optional<ReportGrowthLedger>& ledger = findings.devices[0].growth->ledger;
  return ledger ? ledger->lines : std::vector<ReportGrowthLine>();
}

TEST(CodeCopies, CellsOfANotebookAreOneLine) {
  const std::vector<ReportGrowthLine> lines = LinesOfCopies("<cell ", ">");
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_EQ(lines[0].verdict, Verdict::kLeak);
  EXPECT_DOUBLE_EQ(lines[0].per_step, kMiB);
}

TEST(CodeCopies, GeneratedModulesAreOneLine) {
  const std::vector<ReportGrowthLine> lines = LinesOfCopies("<eval_with_key>.", "");
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_EQ(lines[0].verdict, Verdict::kLeak);
}

TEST(CodeCopies, ManyFilesThatDifferByANumberAreOneLine) {
  const std::vector<ReportGrowthLine> lines = LinesOfCopies("/tmp/inductor/graph_", ".py");
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_EQ(lines[0].verdict, Verdict::kLeak);
}

}  // namespace
}  // namespace vramtrack
