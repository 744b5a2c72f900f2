// SPDX-License-Identifier: Apache-2.0
#include "analyzer/holders/path_text.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "analyzer/base/display_text.h"

namespace vramtrack {
namespace {

bool MayRepeat(uint32_t step) {
  return step == schema::HOLDER_ATTRIBUTE || step == schema::HOLDER_KEY || step == schema::HOLDER_CLOSURE ||
         step == schema::HOLDER_MEMBER;
}

std::string Quoted(const std::string& name) {
  return absl::StrCat("'", absl::StrReplaceAll(Printable(name), {{"\\", "\\\\"}, {"'", "\\'"}}), "'");
}

std::string Named(const std::string& name, const char* otherwise) { return name.empty() ? otherwise : Printable(name); }

std::string AnObject(const PathStep& step) {
  return absl::StrCat("(", Named(step.name.empty() ? step.type : step.name, "an object"));
}

std::string RootText(const PathStep& step, bool brief) {
  switch (step.step) {
    case schema::HOLDER_MODULE:
      return brief && step.name == "__main__" ? "" : Named(step.name, "a module");
    case schema::HOLDER_FRAME:
      return brief ? "" : absl::StrCat(Named(step.name, "a function"), "(): ");
    case schema::HOLDER_EXCEPTION:
      return absl::StrCat("(", Named(step.name, "an exception"), " being handled)");
    case schema::HOLDER_OUTSIDE:
      return AnObject(step) + " held by C or C++ code)";
    case schema::HOLDER_GARBAGE:
      return AnObject(step) + " in a reference cycle)";
    default:
      return Named(step.name, "?");
  }
}

// `before`: the text so far.
std::string StepText(const PathStep& step, bool first_name, const std::string& before) {
  const bool bare = before.empty() || before.back() == ' ';  // nothing that a dot could follow
  switch (step.step) {
    case schema::HOLDER_ATTRIBUTE:
    case schema::HOLDER_MODULE_ATTRIBUTE:
      return absl::StrCat(bare ? "" : ".", Named(step.name, "?"));
    case schema::HOLDER_KEY:
      // The global variables of a module are a dict.
      if (first_name) return absl::StrCat(bare ? "" : ".", Named(step.name, "?"));
      return absl::StrCat("[", Quoted(step.name), "]");
    case schema::HOLDER_INDEX:
      return absl::StrCat("[", Named(step.name, "*"), "]");
    case schema::HOLDER_ENTRY:
      return "[*]";
    case schema::HOLDER_LOCAL:
      return absl::StrCat(bare ? "" : " local variable ", Named(step.name, "?"));
    case schema::HOLDER_CLOSURE:
      return absl::StrCat(bare ? "" : " → ", "closure variable ", Named(step.name, "?"));
    case schema::HOLDER_CONTEXT_VARIABLE:
      return absl::StrCat(bare ? "" : " → ", "context variable ", Named(step.name, "?"));
    case schema::HOLDER_TRACEBACK:
      return absl::StrCat(bare ? "" : ".", "__traceback__ in ", Named(step.name, "a function"), "(): ");
    case schema::HOLDER_GRADIENT:
      return ".grad";
    case schema::HOLDER_GRAPH:
      return ".grad_fn";
    case schema::HOLDER_SAVED:
      return absl::StrCat(" → saved by ", Named(step.name, "a graph node"));
    case schema::HOLDER_HOOK:
      return absl::StrCat(" → hook", step.name.empty() ? "" : " ", Printable(step.name));
    case schema::HOLDER_MEMBER:
      return absl::StrCat(" → (", Named(step.type, "an object"), ")");
    case schema::HOLDER_GENERATOR:
      return absl::StrCat(bare ? "" : " → ", "generator ", Named(step.name, "a function"), "(): ");
    default:
      return absl::StrCat(bare ? "" : ".", Named(step.name, "?"));
  }
}

}  // namespace

bool IsEntry(uint32_t step) {
  return step == schema::HOLDER_KEY || step == schema::HOLDER_INDEX || step == schema::HOLDER_ENTRY;
}

bool IsRoot(uint32_t step) { return step >= schema::HOLDER_MODULE && step <= schema::HOLDER_GARBAGE; }

bool IsGraph(uint32_t step) { return step == schema::HOLDER_GRAPH || step == schema::HOLDER_SAVED; }

std::vector<PathStep> PathSteps(const HolderPaths& paths, const HolderWalk& walk, HolderPathIndex path) {
  std::vector<PathStep> steps;
  size_t run = 0;  // number of equal steps at the end
  for (const HolderPathIndex index : paths.StepsOf(path)) {
    const HolderPaths::Step& from = paths[index];
    const WalkedPath& walked = walk.At(index);
    PathStep step{from.step,      from.name, from.file, walked.type, walked.entries,
                  walked.objects, index,     false,     walked.limit};
    if (step.step == schema::HOLDER_GRAPH) step.name.clear();
    const bool same = !steps.empty() && steps.back().step == step.step && steps.back().name == step.name;
    run = same ? run + 1 : 1;
    if (same && step.step == schema::HOLDER_GRAPH) {
      steps.back() = std::move(step);
      continue;
    }
    if (same && MayRepeat(step.step) && run >= 3) {
      if (run == 3) steps.pop_back();
      step.repeated = true;
      steps.back() = std::move(step);
      continue;
    }
    steps.push_back(std::move(step));
  }
  return steps;
}

std::string PathText(const std::vector<PathStep>& steps, size_t count, bool brief) {
  std::string text;
  for (size_t i = 0; i < count && i < steps.size(); ++i) {
    const PathStep& step = steps[i];
    if (i == 0 && IsRoot(step.step)) {
      text = RootText(step, brief);
      continue;
    }
    const bool first_name = i == 1 && steps[0].step == schema::HOLDER_MODULE;
    text += StepText(step, first_name, text);
    if (step.repeated) text += "…";
  }
  while (!text.empty() && (text.back() == ' ' || text.back() == ':')) text.pop_back();
  return text;
}

}  // namespace vramtrack
