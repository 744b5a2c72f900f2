// SPDX-License-Identifier: Apache-2.0
#include "analyzer/holders/holder_words.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "analyzer/base/display_text.h"
#include "analyzer/base/quantity.h"

namespace vramtrack {
namespace {

// Blocks of so many steps are in one object: it gathers them.
constexpr uint64_t kStepsThatShow = 3;
// So many objects that hold are in cycles of their own.
constexpr uint64_t kSeveralCycles = 3;

// Of a sentence; `path` and `type` in the report have all of it.
constexpr int kMostColumns = 60;

std::string FileName(const std::string& path) {
  return CutBeginning(Printable(path.substr(path.find_last_of('/') + 1)), kMostColumns);
}

// "OrderedDict" of "collections.OrderedDict".
std::string ShortType(const std::string& type) { return type.substr(type.find_last_of('.') + 1); }

std::string WithArticle(const std::string& full_type) {
  const std::string type = ShortType(full_type);
  const bool vowel = !type.empty() && absl::StrContains("AEIOUaeiou", type.substr(0, 1));
  return absl::StrCat(vowel ? "an " : "a ", CutEnd(Printable(type), kMostColumns));
}

// "in main() of train.py"
std::string PlaceOf(const ChosenHolder& chosen) {
  const PathStep& root = chosen.steps[0];
  const std::string file = FileName(root.file);
  if (root.step == schema::HOLDER_FRAME) {
    return absl::StrCat(" in ", CutEnd(Printable(root.name), kMostColumns), "()", file.empty() ? "" : " of " + file);
  }
  if (root.step != schema::HOLDER_MODULE) return "";
  return file.empty() ? "" : " in " + file;
}

std::string EntriesText(const ReportHolder& holder) {
  if (!holder.count) return "";
  std::string text = Plural(*holder.count, "entry", "entries");
  if (holder.limit)
    text = absl::StrCat(FormatCount(*holder.count), " of at most ", Plural(*holder.limit, "entry", "entries"));
  if (!holder.count_before || holder.count_before == holder.count) return text;
  absl::StrAppend(&text, ", ", FormatCount(*holder.count_before));
  if (holder.step_before) {
    absl::StrAppend(&text, " at step ", *holder.step_before);
  } else {
    absl::StrAppend(&text, " after ", FormatSeconds(holder.seconds_before));
  }
  return text;
}

// Rounded down: only all bytes are 100 %.
std::string Percent(double share) { return absl::StrCat(static_cast<int>(std::floor(100 * share + 1e-6)), " %"); }

std::string PartOf(double share, const std::string& whole) {
  return absl::StrCat(share >= 1 ? "all" : Percent(share), " of ", whole);
}

// What is between the object that holds and the first step of another sort.
struct Tail {
  bool each = false;                  // an entry of it
  size_t names_end = 0;               // the steps with names end here
  const PathStep* name = nullptr;     // the last of them, null for none
  const PathStep* special = nullptr;  // graph, traceback, hook, gradient; null for none
};

Tail TailOf(const ChosenHolder& chosen) {
  Tail tail;
  size_t i = chosen.holder + 1;
  if (chosen.entries && i < chosen.steps.size()) {
    tail.each = true;
    ++i;
  }
  for (; i < chosen.steps.size(); ++i) {
    const PathStep& step = chosen.steps[i];
    if (IsGraph(step.step) || step.step == schema::HOLDER_TRACEBACK || step.step == schema::HOLDER_HOOK ||
        step.step == schema::HOLDER_GRADIENT) {
      tail.special = &step;
      break;
    }
    tail.name = &step;
  }
  tail.names_end = i;
  return tail;
}

// How a Python programmer writes the last name: 'loss' of a dict, .loss of an object, [1] of a list.
std::string LastName(const PathStep& step) {
  const std::string name = CutEnd(Printable(step.name), kMostColumns);
  switch (step.step) {
    case schema::HOLDER_KEY:
      return absl::StrCat("'", name, "'");
    case schema::HOLDER_INDEX:
      return absl::StrCat("[", name, "]");
    case schema::HOLDER_ATTRIBUTE:
    case schema::HOLDER_MODULE_ATTRIBUTE:
      return "." + name;
    case schema::HOLDER_LOCAL:
    case schema::HOLDER_CLOSURE:
      return "variable " + name;
    case schema::HOLDER_CONTEXT_VARIABLE:
      return "context variable " + name;
    default:
      return "";
  }
}

// "each entry's 'loss' keeps its graph"; empty if there is nothing to add.
std::string TailText(const ChosenHolder& chosen) {
  const Tail tail = TailOf(chosen);
  const std::string name = tail.name == nullptr ? "" : LastName(*tail.name);
  std::string subject = tail.each ? "each entry" : "it";
  if (!name.empty()) subject = absl::StrCat(tail.each ? "each entry's " : "its ", name);
  if (tail.special == nullptr) return "";
  switch (tail.special->step) {
    case schema::HOLDER_GRAPH:
    case schema::HOLDER_SAVED:
      return subject + " keeps its graph";
    case schema::HOLDER_TRACEBACK: {
      std::string text = subject + " keeps its traceback, with the variables of " +
                         CutEnd(Printable(tail.special->name), kMostColumns) + "()";
      return text;
    }
    case schema::HOLDER_HOOK:
      return subject + " is kept by a hook";
    case schema::HOLDER_GRADIENT:
      return subject + " keeps its gradient";
    default:
      return "";
  }
}

std::string ShortPath(const ChosenHolder& chosen, size_t steps) {
  std::string text = PathText(chosen.steps, steps, true);
  if (text.empty()) text = PathText(chosen.steps, steps);
  return CutBeginning(text, kMostColumns);
}
std::string ShortPath(const ChosenHolder& chosen) { return ShortPath(chosen, chosen.holder + 1); }

// Whether the path has such a step, from the one with index `from` on.
bool Has(const ChosenHolder& chosen, uint32_t step, size_t from = 0) {
  return std::any_of(chosen.steps.begin() + static_cast<std::ptrdiff_t>(from), chosen.steps.end(),
                     [step](const PathStep& one) { return one.step == step; });
}

std::string Others(const ReportHolder& holder) {
  std::vector<std::string> parts;
  for (const ReportHolderShare& other : holder.others) {
    parts.push_back(absl::StrCat(CutBeginning(other.path, kMostColumns), " ", Percent(other.share)));
  }
  return absl::StrJoin(parts, ", ");
}

std::string Remarks(const ReportHolder& holder) {
  std::string text;
  if (holder.not_seen_bytes > 0 && holder.walked_bytes > 0) {
    const double share = static_cast<double>(holder.not_seen_bytes) / static_cast<double>(holder.walked_bytes);
    if (share >= 0.05 && share < 1) {
      absl::StrAppend(&text, "; the walk did not find what holds ", Percent(share));
    }
  }
  if (!holder.complete) absl::StrAppend(&text, "; the walk stopped early, so there may be other holders");
  return text;
}

// Whether it is one of these built-in types, or of those in `collections`.
bool IsOf(const std::string& full_type, std::initializer_list<const char*> types) {
  const std::string prefix = "collections.";
  const std::string type = absl::StartsWith(full_type, prefix) ? full_type.substr(prefix.size()) : full_type;
  return std::any_of(types.begin(), types.end(), [&type](const char* one) { return type == one; });
}

bool Grows(const ReportHolder& holder) {
  return holder.count && holder.count_before && *holder.count > *holder.count_before;
}

std::string GraphHint(const ChosenHolder& chosen, const ReportHolder& holder, const HolderFacts& facts) {
  const Tail tail = TailOf(chosen);
  if (tail.special == nullptr || !IsGraph(tail.special->step)) return "";
  if (chosen.entries) {
    if (!Grows(holder) && facts.birth_steps < kStepsThatShow) return "";
    const std::string what = tail.name == nullptr ? "each entry" : LastName(*tail.name);
    return absl::StrCat("store .item() or .detach() of ", what, ": the tensor itself keeps its whole graph");
  }
  // One tensor whose graph goes back through steps.
  if (facts.birth_steps < kStepsThatShow) return "";
  return absl::StrCat("detach ", ShortPath(chosen),
                      " in each step (.detach(), or .item() for a sum): its graph reaches back through all of them");
}

// Whether the programmer may choose what the container is: not one of an installed module, nor what an optimizer has.
bool IsTheirs(const ChosenHolder& chosen) {
  const PathStep& root = chosen.steps[0];
  if (root.step == schema::HOLDER_MODULE) {
    for (const char* installed : {"/site-packages/", "/dist-packages/", "/lib/python3"}) {
      if (absl::StrContains(root.file, installed)) return false;
    }
  }
  for (size_t i = 1; i <= chosen.holder; ++i) {
    if (chosen.steps[i].step == schema::HOLDER_ATTRIBUTE && chosen.steps[i].name == "param_groups") return false;
  }
  return true;
}

std::string ContainerHint(const ChosenHolder& chosen, const ReportHolder& holder, const HolderFacts& facts) {
  constexpr uint32_t kOwned = schema::HOLDER_IS_PARAMETER | schema::HOLDER_IS_BUFFER | schema::HOLDER_IS_GRADIENT |
                              schema::HOLDER_IS_OPTIMIZER_STATE | schema::HOLDER_IS_SAVED;
  if (!chosen.entries || (facts.flags & kOwned) != 0 || !IsTheirs(chosen)) return "";
  // A few entries, and no more than before, are not what grows.
  if (holder.count && *holder.count < kSeveralEntries && !Grows(holder)) return "";
  if (!Grows(holder) && facts.birth_steps < kStepsThatShow) return "";
  if (holder.limit) return "";
  const std::string name = ShortPath(chosen);
  if (chosen.holder > 1 && chosen.steps[chosen.holder].name == "queue" &&
      IsOf(chosen.steps[chosen.holder - 1].type, {"Queue", "LifoQueue", "PriorityQueue"})) {
    return absl::StrCat("bound ", ShortPath(chosen, chosen.holder), " (maxsize=...), or take its entries out in time");
  }
  const Tail tail = TailOf(chosen);
  if (facts.numbers && tail.special == nullptr) {
    return absl::StrCat("store .item() of ", tail.name == nullptr ? "each entry" : LastName(*tail.name),
                        ": it is one number, and a tensor of it keeps a block of the device");
  }
  if (IsOf(holder.type, {"list", "deque"})) {
    return absl::StrCat("bound ", name, " (collections.deque(maxlen=...)), or delete entries that are done with");
  }
  if (holder.type == "functools._lru_cache_wrapper") {
    return absl::StrCat("bound ", name, " (functools.lru_cache(maxsize=...)), or call its cache_clear()");
  }
  if (IsOf(holder.type, {"dict", "OrderedDict", "defaultdict", "set"})) {
    return absl::StrCat("bound ", name, ", or delete entries that are done with");
  }
  return "";
}

}  // namespace

HolderKind HowItHolds(const ChosenHolder& chosen) {
  if (chosen.steps[0].step == schema::HOLDER_GARBAGE) return HolderKind::kCycle;
  if (chosen.steps[0].step == schema::HOLDER_OUTSIDE) return HolderKind::kOutside;
  if (Has(chosen, schema::HOLDER_TRACEBACK)) return HolderKind::kTraceback;
  if (Has(chosen, schema::HOLDER_HOOK, chosen.holder)) return HolderKind::kHook;
  if (const Tail tail = TailOf(chosen); tail.special != nullptr && IsGraph(tail.special->step))
    return HolderKind::kGraph;
  return chosen.entries ? HolderKind::kEntries : HolderKind::kVariable;
}

std::string HolderName(const ChosenHolder& chosen, const ReportHolder& holder) {
  const PathStep& root = chosen.steps[0];
  const std::string type = ShortType(root.name.empty() ? root.type : root.name);
  // Objects without a name are inside the last one with a name.
  size_t named = chosen.holder;
  while (named > 0 && chosen.steps[named].step == schema::HOLDER_MEMBER) --named;
  // What many cycles hold, or C++ code at many places, has no better name than their kind.
  const bool only_kind = named == 0 || chosen.steps[chosen.holder].objects >= kSeveralCycles;
  if (root.step == schema::HOLDER_GARBAGE && only_kind) {
    const std::string what = type.empty() ? "objects" : CutEnd(Printable(type), kMostColumns) + " objects";
    return absl::StrCat("reference cycles of ", what, " that only the garbage collector can free");
  }
  if (root.step == schema::HOLDER_OUTSIDE && only_kind) {
    std::string name = "C or C++ code";
    if (!type.empty()) absl::StrAppend(&name, ", through ", WithArticle(type), " object");
    const std::string entries = chosen.holder == 0 ? EntriesText(holder) : "";
    return absl::StrCat(name, entries.empty() ? "" : " (" + entries + ")");
  }
  const bool inside = named < chosen.holder;
  const bool hooks = chosen.steps[named].step == schema::HOLDER_HOOK && named > 0;
  std::string name =
      absl::StrCat(inside ? "inside " : "", hooks ? "the hooks of " : "", ShortPath(chosen, hooks ? named : named + 1));
  std::vector<std::string> parts;
  const std::string& of_type = inside ? chosen.steps[named].type : holder.type;
  if (const std::string place = PlaceOf(chosen); !of_type.empty()) {
    parts.push_back(WithArticle(of_type) + place);
  } else if (!place.empty()) {
    parts.push_back(place.substr(1));
  }
  if (std::string entries = inside ? "" : EntriesText(holder); !entries.empty()) parts.push_back(entries);
  if (!parts.empty()) absl::StrAppend(&name, " (", absl::StrJoin(parts, ", "), ")");
  return name;
}

std::string ExplainHolder(const ChosenHolder& chosen, const ReportHolder& holder, bool leak) {
  const std::string whole = leak ? "the leak's bytes" : "its live bytes";
  if (holder.how == HolderKind::kSeveral) {
    return absl::StrCat("several places: ", HolderName(chosen, holder), " ", Percent(holder.share), " of ", whole,
                        holder.others.empty() ? "" : ", " + Others(holder), Remarks(holder));
  }
  const std::string tail = TailText(chosen);
  return absl::StrCat(HolderName(chosen, holder), tail.empty() ? "" : ": " + tail, "; ", PartOf(holder.share, whole),
                      Remarks(holder));
}

std::string ExplainUnknownHolder(const ReportHolder& holder) {
  if (!holder.complete) return "not known: the walk stopped early, before it found any of these blocks";
  return "no Python holder found: C or C++ code may hold it";
}

std::string HolderHint(const ChosenHolder& chosen, const ReportHolder& holder, const HolderFacts& facts) {
  if (!facts.leak || holder.share < 0.5) return "";
  const HolderKind how = HowItHolds(chosen);
  if (how == HolderKind::kCycle) {
    // One cycle does not pile up: what a container in it keeps would be kept without the cycle, too.
    if (chosen.steps[chosen.holder].objects < kSeveralCycles) return "";
    return "break the cycle (weakref, or del of one of the references), or call gc.collect() in time";
  }
  if (how == HolderKind::kOutside) return "";
  // What is being handled now goes away by itself.
  if (how == HolderKind::kTraceback) {
    if (chosen.steps[0].step == schema::HOLDER_EXCEPTION) return "";
    if (!chosen.entries && facts.birth_steps < kStepsThatShow) return "";
    return "keep str(error) instead of the exception, or drop its traceback: error.with_traceback(None)";
  }
  if (how == HolderKind::kHook) {
    return facts.hooks_grow ? "a hook is registered again and again: register it once, or call .remove() of its handle"
                            : "";
  }
  if (how == HolderKind::kGraph) return GraphHint(chosen, holder, facts);
  return ContainerHint(chosen, holder, facts);
}

}  // namespace vramtrack
