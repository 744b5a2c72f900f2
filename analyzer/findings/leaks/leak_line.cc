// SPDX-License-Identifier: Apache-2.0
#include "analyzer/findings/leaks/leak_line.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "analyzer/attribution/blame.h"
#include "analyzer/attribution/glue.h"
#include "analyzer/attribution/python_file.h"
#include "analyzer/base/function_name.h"

namespace vramtrack {
namespace {

// The share of a leak's rate that decides.
constexpr double kBulk = 0.9;

bool IsOwnLine(const std::vector<ReportFrame>& frames, size_t i) { return IsPython(frames[i]) && IsOwn(frames[i]); }

// How much of the leak goes through the calls up to and including frame `line` of `frames`.
double Through(const std::vector<LeakMember>& members, const std::vector<ReportFrame>& frames, size_t line) {
  double rate = 0;
  for (const LeakMember& member : members) {
    if (CommonCalls(*member.frames, frames) >= frames.size() - line) rate += member.rate;
  }
  return rate;
}

// The innermost line of the user's own that the bulk goes through.
std::optional<size_t> BulkLine(const std::vector<LeakMember>& members, const std::vector<ReportFrame>& frames,
                               double all) {
  for (size_t i = 0; i < frames.size(); ++i) {
    if (IsOwnLine(frames, i) && Through(members, frames, i) >= kBulk * all) return i;
  }
  return std::nullopt;
}

double ThroughPlace(const std::vector<LeakMember>& members, const ReportFrame& place) {
  double rate = 0;
  for (const LeakMember& member : members) {
    const bool passes = std::any_of(member.frames->begin(), member.frames->end(),
                                    [&](const ReportFrame& frame) { return SamePlace(frame, place); });
    if (passes) rate += member.rate;
  }
  return rate;
}

// The innermost line of the user's own that the bulk goes through, though by several calls. Searched in the stacks of
// `leader` and of the member with the highest rate.
std::optional<LeakLine> LineOfSeveralCalls(const std::vector<LeakMember>& members, size_t leader, double all) {
  const auto most = std::max_element(members.begin(), members.end(),
                                     [](const LeakMember& a, const LeakMember& b) { return a.rate < b.rate; });
  for (const size_t member : {leader, static_cast<size_t>(most - members.begin())}) {
    const std::vector<ReportFrame>& frames = *members[member].frames;
    for (size_t i = 0; i < frames.size(); ++i) {
      if (!IsOwnLine(frames, i) || ThroughPlace(members, frames[i]) < kBulk * all) continue;
      if (Through(members, frames, i) >= kBulk * all) break;
      return LeakLine{member, i};
    }
  }
  return std::nullopt;
}

// The next line of the user's own within the call at `line`, and whether installed code is between the two.
struct Inner {
  std::optional<size_t> line;
  bool through_library = false;
};
Inner InnerLine(const std::vector<ReportFrame>& frames, size_t line) {
  Inner inner;
  for (size_t i = line; i-- > 0;) {
    if (IsOwnLine(frames, i)) {
      inner.line = i;
      return inner;
    }
    inner.through_library |= frames[i].installed;
  }
  return inner;
}

// Whether the function of frame `line`, called the same way, allocates something further down that is freed: what leaks
// is then kept within the function, and is not what it returns.
bool FreesLater(const std::vector<ReportFrame>& frames, size_t line,
                const std::vector<std::vector<ReportFrame>>& clean) {
  const size_t calls = frames.size() - 1 - line;
  return std::any_of(clean.begin(), clean.end(), [&](const std::vector<ReportFrame>& other) {
    if (CommonCalls(other, frames) != calls || !PartInOneFunction(other, frames, calls)) return false;
    return CalledBy(other, calls)->line > frames[line].line;
  });
}

// The next line of the user's own outside of `line`, unless installed code is between the two.
std::optional<size_t> OwnCaller(const std::vector<ReportFrame>& frames, size_t line) {
  for (size_t i = line + 1; i < frames.size() && !frames[i].installed; ++i) {
    if (IsOwnLine(frames, i)) return i;
  }
  return std::nullopt;
}

// The line of the user's own that calls the function of `line` and keeps what it returns, if another line calls it for
// something that is freed.
std::optional<size_t> CallerThatKeeps(const std::vector<ReportFrame>& frames, size_t line,
                                      const std::vector<std::vector<ReportFrame>>& clean) {
  const std::optional<size_t> caller = OwnCaller(frames, line);
  if (!caller || FreesLater(frames, line, clean)) return std::nullopt;
  const bool called_elsewhere = std::any_of(clean.begin(), clean.end(), [&](const std::vector<ReportFrame>& other) {
    for (size_t i = 0; i < other.size(); ++i) {
      if (!SamePlace(other[i], frames[line])) continue;
      const std::optional<size_t> from = OwnCaller(other, i);
      return from && !SamePlace(other[*from], frames[*caller]);
    }
    return false;
  });
  return called_elsewhere ? caller : std::nullopt;
}

// Whether a line that has no part in the leak calls the function of `place` for something that is freed.
bool IsDroppedElsewhere(const std::vector<LeakMember>& members, const ReportFrame& place,
                        const std::vector<std::vector<ReportFrame>>& clean) {
  const auto callers_in = [&place](const std::vector<ReportFrame>& frames) {
    std::vector<const ReportFrame*> callers;
    for (size_t i = 0; i < frames.size(); ++i) {
      if (!SamePlace(frames[i], place)) continue;
      if (const std::optional<size_t> from = OwnCaller(frames, i)) callers.push_back(&frames[*from]);
    }
    return callers;
  };
  std::vector<const ReportFrame*> leaking;
  for (const LeakMember& member : members) {
    for (const ReportFrame* caller : callers_in(*member.frames)) leaking.push_back(caller);
  }
  return std::any_of(clean.begin(), clean.end(), [&](const std::vector<ReportFrame>& other) {
    const std::vector<const ReportFrame*> callers = callers_in(other);
    return std::any_of(callers.begin(), callers.end(), [&leaking](const ReportFrame* caller) {
      return std::none_of(leaking.begin(), leaking.end(),
                          [caller](const ReportFrame* one) { return SamePlace(*one, *caller); });
    });
  });
}

}  // namespace

std::optional<size_t> KeepingCaller(const std::vector<ReportFrame>& frames,
                                    const std::vector<std::vector<ReportFrame>>& clean) {
  const std::optional<size_t> own = OwnFrame(frames);
  if (!own || !IsPython(frames[*own])) return std::nullopt;
  return CallerThatKeeps(frames, *own, clean);
}

size_t LineThatKeeps(const std::vector<ReportFrame>& frames, size_t line,
                     const std::vector<std::vector<ReportFrame>>& clean) {
  const Inner inner = InnerLine(frames, line);
  if (!inner.line || inner.through_library || IsConstructor(frames[*inner.line])) return line;
  return FreesLater(frames, *inner.line, clean) ? *inner.line : line;
}

LeakLine FindLeakLine(const std::vector<LeakMember>& members, size_t leader,
                      const std::vector<std::vector<ReportFrame>>& clean) {
  LeakLine found{leader, std::nullopt};
  double all = 0;
  for (const LeakMember& member : members) all += member.rate;
  std::optional<size_t> line = BulkLine(members, *members[leader].frames, all);
  if (!line) return found;
  // Where the leader is a library's own business on the side, and the bulk of the leak is allocated further within, the
  // largest part of that leads.
  if (!InnerLine(*members[leader].frames, *line).line) {
    const size_t calls = members[leader].frames->size() - *line;
    std::optional<size_t> better;
    for (size_t i = 0; i < members.size(); ++i) {
      const std::vector<ReportFrame>& frames = *members[i].frames;
      if (i == leader || CommonCalls(frames, *members[leader].frames) < calls) continue;
      const std::optional<size_t> inner = BulkLine(members, frames, all);
      if (!inner || frames.size() - *inner <= calls) continue;
      if (!better || members[i].rate > members[*better].rate) better = i;
    }
    if (better) {
      found.leader = leader = *better;
      line = BulkLine(members, *members[leader].frames, all);
    }
  }
  const std::vector<ReportFrame>& frames = *members[leader].frames;
  found.line = CallerThatKeeps(frames, *line, clean).value_or(*line);
  // Parts at several lines of a function: the call to it, unless that is not the user's own.
  const Inner inner = InnerLine(frames, *line);
  if (!inner.line) return found;
  const bool apart = std::any_of(members.begin(), members.end(), [&](const LeakMember& member) {
    return !member.same_call && PartInOneFunction(*member.frames, frames, CommonCalls(*member.frames, frames));
  });
  if (inner.through_library || apart) {
    found.line = *inner.line;
    if (Through(members, frames, *inner.line) >= kBulk * all) return found;
    // Several lines call a function that keeps what it allocates: each of these lines has a part only.
    const std::optional<LeakLine> several = LineOfSeveralCalls(members, leader, all);
    if (!several) return found;
    const ReportFrame& place = (*members[several->leader].frames)[*several->line];
    if (!IsDroppedElsewhere(members, place, clean)) return *several;
  } else if (const size_t keeps = LineThatKeeps(frames, *line, clean); keeps != *line) {
    found.line = keeps;
  }
  return found;
}

namespace {

// The `index`-th frame from the outer end.
const ReportFrame& FromOuter(const std::vector<ReportFrame>& frames, size_t index) {
  return frames[frames.size() - 1 - index];
}

}  // namespace

size_t CommonCalls(const std::vector<ReportFrame>& a, const std::vector<ReportFrame>& b) {
  size_t calls = 0;
  while (calls < std::min(a.size(), b.size()) && SamePlace(FromOuter(a, calls), FromOuter(b, calls))) ++calls;
  return calls;
}

const ReportFrame* CalledBy(const std::vector<ReportFrame>& frames, size_t calls) {
  return calls < frames.size() ? &FromOuter(frames, calls) : nullptr;
}

bool PartInOneFunction(const std::vector<ReportFrame>& a, const std::vector<ReportFrame>& b, size_t calls) {
  const ReportFrame* left = CalledBy(a, calls);
  const ReportFrame* right = CalledBy(b, calls);
  return left != nullptr && right != nullptr && SameFunction(*left, *right);
}

bool CallsLibrary(const std::vector<ReportFrame>& frames, size_t calls) {
  if (calls == 0 || calls >= frames.size()) return false;
  const ReportFrame& line = FromOuter(frames, calls - 1);
  if (IsPython(line) && line.origin != ReportFrame::Origin::kJob) return false;
  for (size_t i = 0; i < frames.size() - calls; ++i) {
    const ReportFrame& inner = frames[i];
    const bool own =
        IsPython(line) ? IsPython(inner) && inner.origin == ReportFrame::Origin::kJob : inner.module == line.module;
    if (own) return false;
  }
  return true;
}

bool IsConstructor(const ReportFrame& frame) {
  if (IsPython(frame)) return UnqualifiedName(frame.function) == "__init__";
  std::string name = QualifiedName(frame.function);
  if (const size_t arguments = name.find('<'); arguments != std::string::npos) name.resize(arguments);
  const size_t colons = name.rfind("::");
  if (colons == std::string::npos) return false;
  const std::string function = name.substr(colons + 2);
  std::string scope = name.substr(0, colons);
  if (const size_t outer = scope.rfind("::"); outer != std::string::npos) scope = scope.substr(outer + 2);
  return !function.empty() && function == scope;
}

bool ShareModuleCall(const std::vector<ReportFrame>& a, const std::vector<ReportFrame>& b) {
  size_t i = a.size(), j = b.size();
  const auto next = [](const std::vector<ReportFrame>& frames, size_t* index) {
    while (*index > 0) {
      if (IsPython(frames[--*index])) return &frames[*index];
    }
    return static_cast<const ReportFrame*>(nullptr);
  };
  while (true) {
    const ReportFrame* left = next(a, &i);
    const ReportFrame* right = next(b, &j);
    if (left == nullptr || right == nullptr || !SamePlace(*left, *right)) return false;
    if (IsModuleCall(*left)) return true;
  }
}

std::string CallKey(const std::vector<ReportFrame>& frames, size_t calls) {
  std::string key;
  for (size_t i = 0; i < calls && i < frames.size(); ++i) {
    const ReportFrame& frame = FromOuter(frames, i);
    absl::StrAppend(&key, frame.function, "|", frame.file, "|", frame.line, "|", frame.line == 0 ? frame.offset : 0,
                    "\n");
  }
  if (const ReportFrame* called = CalledBy(frames, calls)) absl::StrAppend(&key, called->function, "|", called->file);
  return key;
}

}  // namespace vramtrack
