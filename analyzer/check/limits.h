// SPDX-License-Identifier: Apache-2.0
//
// The limits of a run as plain data, and the table of all kinds of limits.
#ifndef ANALYZER_CHECK_LIMITS_H_
#define ANALYZER_CHECK_LIMITS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/civil_time.h"
#include "analyzer/model/frame_pattern.h"
#include "analyzer/model/report.h"

namespace vramtrack {

enum class LimitUnit { kBytes, kBytesPerStep, kObjectsPerStep, kBytesOrShare, kSteps, kSeconds, kContexts };

// Returns whether a limit is a minimum; other limits are maximums.
constexpr bool IsLeast(LimitUnit unit) { return unit == LimitUnit::kSteps || unit == LimitUnit::kSeconds; }

// The denominator of a rate. A trace has one of the first two, see ReportSite::rate_unit.
enum class RatePer { kStep, kGiB, kSecond };

struct Limit {
  double value = 0;              // bytes, steps, seconds, contexts, or bytes or objects per step; 0 to 1 for a share
  RatePer per = RatePer::kStep;  // for rates only
  bool share = false;            // a share of the device's memory; for fragmentation, of the reserved bytes
  std::string place;             // where it was set: "budgets.toml:12", "--max-peak"
};

// The limits for a whole job, one device or one rank. Nullopt means no limit.
struct Limits {
  std::optional<Limit> leak;          // one leak, with all sites that belong to it
  std::optional<Limit> leak_objects;  // one leak of objects without bytes: streams, events
  std::optional<Limit> leak_total;    // all leaks of a device or rank
  std::optional<Limit> peak;          // live bytes
  std::optional<Limit> reserved, device_used;
  std::optional<Limit> growth;              // growth of live bytes
  std::optional<Limit> fragmentation;       // bytes reserved and not live, at the peak
  std::optional<Limit> steps_to_oom;        // a minimum
  std::optional<Limit> seconds_to_oom;      // a minimum
  std::optional<Limit> contexts;            // CUDA contexts at the same time
  std::map<std::string, Limit> categories;  // bytes live at the peak
};

// A kind of limit: how it is set, what is compared with it, and what is said where it does not hold.
struct LimitKind {
  const char* key;   // the key in a budgets file; the option is --max-KEY or --min-KEY, with dashes for underscores
  const char* rule;  // see kCheckRules
  LimitUnit unit;
  std::optional<Limit> Limits::*limit;
  const char* value;  // how --help names the value: "SIZE"
  const char* text;   // what --help says
  // Return the figure of a device or of a rank in the unit of the limit: sizes in bytes or as a share of the device,
  // fragmentation in bytes or as a share of the reserved bytes, rates per step, GiB or second. Nullopt: unknown. They
  // are null for limits of one leak, of_rank also where a rank cannot have such a limit.
  std::optional<double> (*of_device)(const Report&, const ReportDevice&, const Limit&);
  std::optional<double> (*of_rank)(const Report&, const ReportRank&, const Limit&);
  // A phrase that follows the device or rank, with the figure for $0, and the same for a share.
  const char* message;
  const char* share_message;
  // The stack to look at, of a device that breaks the limit; null where there is none.
  const std::vector<ReportFrame>* (*stack_of_device)(const Report&, const ReportDevice&) = nullptr;
};
extern const std::vector<LimitKind> kLimitKinds;  // see limit_kinds.cc

// A known finding that does not fail the check. An empty field matches everything.
struct CheckException {
  std::string site;    // id
  FramePattern frame;  // which one frame must match
  std::vector<std::string> rules;
  std::optional<uint32_t> device;
  std::optional<Limit> up_to;  // bytes or bytes per step; the finding fails above it
  std::string reason;
  std::optional<absl::CivilDay> expires;  // the last day on which it is valid; nullopt: it never expires
  std::string place;
};

struct Budgets {
  Limits job;
  std::map<uint32_t, Limits> devices;  // these override the limits of the job
  std::map<int, Limits> ranks;
  std::vector<CheckException> exceptions;
};

// Parses "2 GiB", "500 MiB/step", "10 %" or "30 min". Bytes need a unit, except 0: powers of 1024 (K, KiB) or of 1000
// (kB, MB, GB). Rates are "/step" (the default), "/GiB" (allocated) or "/s"; times are in seconds by default. Does not
// set the place. The error is one line, such as "invalid number of steps 'x' (examples: 1000, 100000)".
absl::StatusOr<Limit> ParseLimit(std::string_view text, LimitUnit unit);

// Returns the limit for a plain number in the file.
absl::StatusOr<Limit> LimitOfNumber(double value, LimitUnit unit);

// Format a limit, or a value in its unit: "2.00 GiB", "500 MiB per step", "10 %", "100,000 steps", "30 min".
std::string FormatLimit(const Limit& limit, LimitUnit unit);
std::string FormatValue(double value, LimitUnit unit, bool share = false, RatePer per = RatePer::kStep);
// Returns "step", "GiB allocated" or "second".
const char* PerName(RatePer per);

// Parses a date, "YYYY-MM-DD".
absl::StatusOr<absl::CivilDay> ParseDay(std::string_view text);

// Parses a budgets file (TOML, docs/check.md). `path` is its name in errors and places. The error is one line about the
// first mistake in the file. Unknown keys are mistakes.
absl::StatusOr<Budgets> ParseBudgets(std::string_view text, const std::string& path);

}  // namespace vramtrack

#endif  // ANALYZER_CHECK_LIMITS_H_
