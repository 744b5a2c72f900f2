// SPDX-License-Identifier: Apache-2.0
//
// What processes have of their machine: memory of the host, over the steps of one, and cards that several share.
#ifndef ANALYZER_MODEL_MACHINE_H_
#define ANALYZER_MODEL_MACHINE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/model/device.h"
#include "analyzer/model/fields.h"

namespace vramtrack {

struct ReportHostFigure {
  uint64_t first = 0, last = 0, peak = 0;
  std::optional<ReportGrowth> growth;
  std::vector<uint64_t> low, high;

  bool grows() const { return growth && growth->ci_low > 0 && growth->refused.empty(); }
};

template <>
inline constexpr const char* kAbout<ReportHostFigure> = "A figure of the host's memory, in bytes";
template <class Visitor>
void Fields(Visitor& visit, ReportHostFigure& figure) {
  visit(1, "first", figure.first, "when the recording began");
  visit(2, "last", figure.last, "when it ended");
  visit(3, "peak", figure.peak);
  visit(4, "growth", figure.growth,
        "over the last two thirds of the steps; `refused` says why it is not called growth; `null` with too few steps");
  visit(5, "low", figure.low, "one value for each `step`");
  visit(6, "high", figure.high, "likewise");
}

struct ReportHost {
  uint32_t pid = 0;
  std::optional<int> rank;
  ReportHostFigure resident, pinned;
  uint64_t shared = 0;
  uint64_t readings = 0;
  std::vector<int64_t> step;
};

template <>
inline constexpr const char* kAbout<ReportHost> =
    "The memory of the host that a process has: of several processes, the one whose resident memory grows fastest, or "
    "else is the largest";
template <class Visitor>
void Fields(Visitor& visit, ReportHost& host) {
  visit(1, "pid", host.pid);
  visit(2, "rank", host.rank, "`null` without one");
  visit(3, "resident", host.resident, "in memory, read at step marks, at most every 10 ms");
  visit(4, "shared", host.shared, "of `resident.last`, bytes of files and of memory shared with other processes");
  visit(5, "pinned", host.pinned, "allocated by CUDA and page-locked; the sites of these allocations are in `sites`");
  visit(6, "readings", host.readings, "of `resident`");
  visit(7, "step", host.step, "the first step of each value of `low` and `high`; at most 300");
}

// What one process had of one card. Kept of each process until the job's are joined.
struct CardUse {
  uint32_t device = 0;  // the process's number of the card
  std::string uuid;     // as nvidia-smi prints it
  std::string name;
  uint64_t total_bytes = 0;
  double began_s = 0, ended_s = 0;  // since 1970
  uint64_t peak = 0, last = 0;
  std::vector<double> until_s;     // ends of spans of time, since 1970
  std::vector<uint64_t> reserved;  // the most in each span
  // The last time that the process asked the card for its memory; 0: never.
  double asked_s = 0;
  uint64_t in_use = 0;  // of the card, by anybody, at that time
};

template <class Visitor>
void Fields(Visitor& visit, CardUse& use) {
  visit(1, "device", use.device);
  visit(2, "uuid", use.uuid);
  visit(3, "name", use.name);
  visit(4, "total_bytes", use.total_bytes);
  visit(5, "began_s", use.began_s);
  visit(6, "ended_s", use.ended_s);
  visit(7, "peak", use.peak);
  visit(8, "last", use.last);
  visit(9, "until_s", use.until_s);
  visit(10, "reserved", use.reserved);
  visit(11, "asked_s", use.asked_s);
  visit(12, "in_use", use.in_use);
}

struct ReportCard {
  struct Process {
    uint32_t pid = 0;
    std::optional<int> rank;
    uint32_t device = 0;
    double began_s = 0, ended_s = 0;
    uint64_t peak = 0, last = 0, at_most = 0;
  };
  std::string uuid, name;
  uint64_t total_bytes = 0;
  std::vector<Process> processes;
  uint64_t most = 0;
  double most_s = 0;
  std::optional<uint64_t> others;
};

template <>
inline constexpr const char* kAbout<ReportCard::Process> = "A process that used the card";
template <class Visitor>
void Fields(Visitor& visit, ReportCard::Process& process) {
  visit(1, "pid", process.pid);
  visit(2, "rank", process.rank, "`null` without one");
  visit(3, "device", process.device, "the process's number of the card");
  visit(4, "began_s", process.began_s, "when its recording began, after the first of the card's processes");
  visit(5, "ended_s", process.ended_s, "likewise");
  visit(6, "peak", process.peak, "the most that it had allocated, as the driver gives memory out");
  visit(7, "last", process.last, "at its end");
  visit(8, "at_most", process.at_most, "its part of the card's `most`");
}

template <>
inline constexpr const char* kAbout<ReportCard> =
    "A card that several processes of the job used. They are matched by the card's UUID, so processes that did not ask "
    "for the properties of their device are missing";
template <class Visitor>
void Fields(Visitor& visit, ReportCard& card) {
  visit(1, "uuid", card.uuid, "of the card, or of the part of it that MIG made");
  visit(2, "name", card.name);
  visit(3, "total_bytes", card.total_bytes);
  visit(4, "processes", card.processes, "by `began_s`");
  visit(5, "most", card.most, "that they had together at the same time, without their contexts");
  visit(6, "most_s", card.most_s, "when, after the first of them began");
  visit(7, "others", card.others,
        "in use on the card in addition, when one of them last asked it: contexts, and processes that were not traced; "
        "`null` if none of them asked");
}

}  // namespace vramtrack

#endif  // ANALYZER_MODEL_MACHINE_H_
