// SPDX-License-Identifier: Apache-2.0
//
// The answer of a report in words, without a layout.
#ifndef ANALYZER_RENDER_WORDS_ANSWER_WORDS_H_
#define ANALYZER_RENDER_WORDS_ANSWER_WORDS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/model/report.h"

namespace vramtrack {

// A leak at one place in the code. Several devices can have it, because the ranks of a job run the same code on
// different devices.
struct LeakAtPlace {
  const ReportSite* site;  // the site with the worst leak
  size_t devices = 1;
};

// Returns the leaks, worst first. The report must outlive them.
std::vector<LeakAtPlace> LeaksByPlace(const Report& report);

// What stays behind per unit of the rate: of the whole leak if the site leads one, otherwise of the site.
struct LeakFigures {
  double bytes, ci_low, ci_high, objects;
};
LeakFigures FiguresOf(const ReportSite& site);

// Returns a rate such as "768 KiB per step": that of the whole leak if the site leads one, otherwise that of the site.
// In a job with several ranks it can be the mean of the ranks: "768 KiB per step and rank".
std::string LeakRate(const ReportSite& site);

// Return what the ranks of a job say about the site, such as "on 61 of 64 ranks (2 with too few steps, 1 without data
// on it), from 3.90 MiB to 4.10 MiB (rank 17)", or only in how many ranks it leaks. Empty if the job has one rank, or
// it leaks in none.
std::string AcrossRanks(const ReportSite& site);
std::string InHowManyRanks(const ReportSite& site);
std::string OwnRate(const ReportSite& site);
// Returns a text such as " on 4 devices"; empty for one device.
std::string OnDevices(const LeakAtPlace& leak);
// Returns the evidence, such as "95 % CI 767 to 769 KiB, 60 steps, since step 12".
std::string Certainty(const Report& report, const ReportSite& site);
// Returns the evidence for a leak in about ten words, and when the device will be full if that is known: "all 104 steps
// checked kept 2 objects each; at this rate device 0 is full in 109,000 steps".
std::string ShortEvidence(const Report& report, const ReportSite& site);
// Returns a text such as "at this rate device 0 is full in 109,000 steps". Empty if the time is unknown, or the device
// has already run out of memory.
std::string TimeToOutOfMemory(const Report& report, const ReportSite& site);

// Returns "rank 3", or "process 4711" of one without a rank.
std::string ProcessName(const std::optional<int>& rank, uint32_t pid);

// Returns a rate such as "1.00 MiB per step (95 % CI 0.98 to 1.02 MiB)". An interval of width zero is omitted.
std::string RateWithInterval(const ReportGrowth& growth);

// Returns a text such as "full in 19,400 steps (19,300 to 19,600)"; empty if that is unknown. An interval of width zero
// is omitted.
std::string FullInSteps(const ReportGrowth& growth);

// Returns "in 60 steps".
std::string NoLeakInShort(const Report& report);
// Return "none of 38 allocation sites leaks (60 steps)", and how the memory of each device changes.
std::string NoLeakWords(const Report& report);
std::vector<std::string> DeviceChanges(const Report& report);
// Returns why there is no answer, one sentence each: the suspect first.
std::vector<std::string> NotEnoughWords(const Report& report);

// Returns the line that surely grows most although it cannot be called a leak; null without one. The report must
// outlive it.
const ReportGrowthLine* GrowingLine(const Report& report);
// Returns how it grows: "3.04 MiB per step (2.90 to 3.19 MiB), not slowing".
std::string GrowthWords(const Report& report, const ReportGrowthLine& line);

// Returns "grew by 240 MiB in 120 steps". `bytes`: false for handles.
std::string GrewBy(const ReportGrowthLedger& ledger, bool bytes);
// Returns where it was at its first and at its last moment: "12.0 MiB at step 5, 252 MiB at step 125".
std::string FromTo(const ReportGrowthLedger& ledger, bool bytes);
// Returns the same with its lines: "grew by 240 MiB in 120 steps: 236 MiB server.py:12 in put (leak), 4.00 MiB
// cache.py:8 (fills, slowing or full)", with at most `most` lines.
std::string WhoGrew(const ReportGrowthLedger& ledger, bool bytes, size_t most);

// Returns the name of a category in words: "optimizer state", "unknown use".
std::string CategoryText(const std::string& name);

// Whether a site leaks and has no category: its bytes are called "leaked", not "unknown use".
bool IsJustLeaked(const ReportSite& site);

// Returns a list such as "4.20 GiB activations, 1.10 GiB optimizer state, 12 MiB other". Categories below one per cent
// of the total, and the category "other", are summed at the end. `categories` holds names and bytes. `leaked`: the
// bytes of sites for which IsJustLeaked holds.
std::string CategoriesText(std::vector<std::pair<std::string, uint64_t>> categories, uint64_t leaked);

// Returns how many steps there are, where they come from and how sure that is.
std::string StepsText(const ReportSteps& steps);

}  // namespace vramtrack

#endif  // ANALYZER_RENDER_WORDS_ANSWER_WORDS_H_
