// SPDX-License-Identifier: Apache-2.0
//
// The answer of a report in words, without a layout.
#ifndef ANALYZER_RENDER_TEXT_ANSWER_WORDS_H_
#define ANALYZER_RENDER_TEXT_ANSWER_WORDS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analyzer/model/report.h"

namespace vramtrack {

// A leak at one place in the code, which several devices may have: the ranks of a job do the same on different ones.
struct LeakAtPlace {
  const ReportSite* site;  // the worst
  size_t devices = 1;
};

// Worst first. The report must outlive them.
std::vector<LeakAtPlace> LeaksByPlace(const Report& report);

std::string LeakTitle(const ReportSite& site);  // "LEAK", "MINOR LEAK", "ACCELERATING LEAK"
// "768 KiB per step": of the whole leak that the site leads; of the site alone.
std::string LeakRate(const ReportSite& site);

// "in 61 of 64 ranks (2 too few steps, 1 no leak), from 3.90 MiB to 4.10 MiB (rank 17)": what the ranks of a job say of
// the site, or only in how many it leaks. Empty where there is one rank, or it leaks in none.
std::string AcrossRanks(const ReportSite& site);
std::string InHowManyRanks(const ReportSite& site);
std::string OwnRate(const ReportSite& site);
std::string OnDevices(const LeakAtPlace& leak);  // " on 4 devices"; empty of one
// "95 % CI 767 to 769 KiB, 60 steps, since step 12"
std::string Certainty(const Report& report, const ReportSite& site);
// "at this rate device 0 (Name, 80.0 GiB) is full in 109,000 steps". Empty where that is not known, or has happened.
std::string TimeToOutOfMemory(const Report& report, const ReportSite& site);

// "1.00 MiB per step (95 % CI 0.98 to 1.02 MiB)"; without an interval of no width.
std::string RateWithInterval(const ReportGrowth& growth);

// "none of 38 sites leaks, over 60 steps", and what each device's memory does.
std::string NoLeakWords(const Report& report);
std::vector<std::string> DeviceChanges(const Report& report);
// What is missing for an answer.
std::string NotEnoughWords(const Report& report);

// "optimizer state", "unknown use".
std::string CategoryText(const std::string& name);

// "4.20 GiB activations, 1.10 GiB optimizer state, 12 MiB other": what is less than a hundredth of all, or was not
// looked at, goes together at the end. `categories`: name and bytes.
std::string CategoriesText(const std::vector<std::pair<std::string, uint64_t>>& categories);

struct LeakPart {
  const ReportSite* site = nullptr;
  const ReportFrame* place = nullptr;  // tells it from the other sites of its leak; null without frames
};

// The sites that make up a leak. The report must outlive it.
class LeakParts {
 public:
  explicit LeakParts(const Report& report);

  // Largest first, `leader` among them; only that one where it leads no other.
  std::vector<LeakPart> Of(const ReportSite& leader) const;

 private:
  std::unordered_map<std::string_view, std::vector<const ReportSite*>> parts_;  // by the id of who leads
};

}  // namespace vramtrack

#endif  // ANALYZER_RENDER_TEXT_ANSWER_WORDS_H_
