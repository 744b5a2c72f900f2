// SPDX-License-Identifier: Apache-2.0
//
// The numbers behind a verdict. Everything else about it follows from these and from the data. docs/leak-verdicts.md
// explains the model; the suite `ablations` of //tests/corpus:score says which cases carry each number.
#ifndef ANALYZER_LEAKS_PRIOR_H_
#define ANALYZER_LEAKS_PRIOR_H_

#include <cstddef>

namespace vramtrack {

struct Prior {
  // A verdict needs odds of this many to one.
  double odds = 20;

  // Weights of the classes, for a line that keeps something for longer than it kept anything that it freed.
  double leak = 1;
  double replaced = 0.5;       // of `leak`, for what is only replaced by more: many buffers end with the largest input
  double one_time = 4;         // set-up
  double accident = 2;         // a few objects, at any time
  double filled = 1.0 / 16;    // grew, and stopped in the middle of the run
  double filling = 1.0 / 32;   // a cache: it keeps less and less
  double filling_drops = 0.2;  // factor of `filling` for a line that frees as many objects as it keeps
  double unfreed = 1;          // is freed later than any object so far

  // Within the classes.
  double accelerating = 0.1;   // share of leaks whose rate grows
  double changing = 0.005;     // share of leaks whose rate changes once; for a line that seems to be clean
  double from_setup = 0.5;     // share of leaks that begin when set-up ends
  double patterned = 0.5;      // share of leaks that repeat a pattern of steps
  unsigned pattern_hits = 99;  // a pattern misses about one step in this many
  double accidents = 4;        // shape of the gamma distribution of the accidents of a run, whose mean is 1
  double keepers = 8;          // lines that keep something after set-up, for each leak that is expected
};

// What is integrated out, on these grids.
constexpr int kSetupLengths[] = {0, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 233};
// A cache's rate falls as (1 + step / scale) ^ -power. All scales have the same weight.
constexpr double kCacheScales[] = {1, 4, 16, 64, 256, 1024};
constexpr double kCachePowers[] = {0.5, 1, 2};
// An accelerating rate rises as (step / end) ^ power.
constexpr double kSpeedups[] = {1, 2};
// The squared variation of a rate between blocks of this many steps; the first is none.
struct Burst {
  double variation;
  int steps;
};
constexpr Burst kBursts[] = {{0, 0}, {0.5, 1}, {1, 8}, {2, 32}};
constexpr int kFewestBlocks = 6;  // a run with fewer blocks of a kind does not show that kind of burst

}  // namespace vramtrack

#endif  // ANALYZER_LEAKS_PRIOR_H_
