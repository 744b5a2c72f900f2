// SPDX-License-Identifier: Apache-2.0
#include "analyzer/findings/step_marks.h"

#include <algorithm>
#include <cctype>

#include "analyzer/attribution/optimizer_frame.h"
#include "analyzer/attribution/python_file.h"
#include "proto/block_decoder.h"

namespace vramtrack {
namespace {

// What names of ranges that stand for a step have in them.
constexpr const char* kStepWords[] = {"step", "iter", "batch"};
constexpr char kProfilerStep[] = "profilerstep#";
constexpr char kOptimizerStep[] = "Optimizer.step#";

// This share of an optimizer's steps follows the one before at once: several are called in turn.
constexpr uint64_t kIdleShare = 4;

std::string Lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

bool NamesAStep(const std::string& name) {
  const std::string lower = Lower(name);
  return lower.find("optimizer") == std::string::npos &&
         std::any_of(std::begin(kStepWords), std::end(kStepWords),
                     [&](const char* word) { return lower.find(word) != std::string::npos; });
}

}  // namespace

StepMarks::StepMarks(const Trace& trace) : trace_(trace) {
  FindOptimizers();
  const TracedStacks& stacks = trace.definitions().stacks;
  if (trace.past() != nullptr) {
    for (const Checkpoint::Marks& marks : trace.past()->marks) {
      const uint32_t slot = trace.SlotOf(marks.thread);
      if (slot == Trace::kNoSlot) continue;
      MarkGroup group;
      group.AddMany(marks.count, marks.first_time, marks.last_time);
      SlotState state;
      Add(slot, marks.kind, stacks.Distinct(marks.stack), marks.name, group, &state);
    }
  }
  for (uint32_t slot = 0; slot < trace.threads().size(); ++slot) {
    SlotState state;
    ReleaseBehind release(trace);
    for (const BlockRef& block : trace.threads()[slot].blocks) {
      release.Passed(block.offset);
      BlockDecoder decoder;
      if (!decoder.Open(block.payload)) continue;
      const std::vector<DecodedShape>& shapes = decoder.shapes();
      std::vector<uint32_t> distinct(shapes.size());
      bool any = false;
      for (size_t i = 0; i < shapes.size(); ++i) {
        if (shapes[i].operation != schema::MARK && shapes[i].operation != schema::ALLOCATE) continue;
        distinct[i] = stacks.Distinct(shapes[i].ref);
        any |= shapes[i].operation == schema::MARK || in_optimizer_[distinct[i]];
      }
      if (!any) {
        state.worked = true;
        state.inside = false;
        continue;
      }
      for (DecodedEvent event; decoder.Next(&event);) {
        const uint32_t stack = distinct[static_cast<size_t>(event.shape - shapes.data())];
        if (event.shape->operation == schema::ALLOCATE) {
          const bool inside = in_optimizer_[stack];
          optimizer_allocations_ += inside && !state.inside;
          state.inside = inside;
          state.worked |= !inside;
        } else if (event.shape->operation == schema::MARK) {
          MarkGroup one;
          one.Add(event.time);
          Add(slot, event.shape->kind, stack, static_cast<uint32_t>(event.value[0]), one, &state);
        }
      }
    }
  }
}

void StepMarks::FindOptimizers() {
  const Definitions& definitions = trace_.definitions();
  const size_t count = definitions.stacks.distinct_count();
  in_optimizer_.resize(count);
  optimizer_call_.resize(count);
  for (uint32_t i = 0; i < count; ++i) {
    const PythonStackRef python = definitions.stacks.Get(i).python;
    size_t outside = 0;
    for (size_t frame = 0; frame < python.count; ++frame) {
      const TracedCode& code = definitions.codes.Get(python.frames[frame].code);
      const std::string_view name = code.name;
      if (IsOptimizerFrame(code.file, UnqualifiedName(name))) in_optimizer_[i] = true;
      if (IsOptimizerFile(code.file)) outside = frame + 1;
    }
    if (!in_optimizer_[i]) continue;
    uint64_t call = 1;
    for (size_t frame = outside; frame < python.count; ++frame) {
      call = (call ^ (uint64_t{python.frames[frame].code} << 32 | python.frames[frame].line)) * 0x9e3779b97f4a7c15;
      call ^= call >> 29;
    }
    optimizer_call_[i] = std::max<uint64_t>(call, 1);
  }
}

// "step 12" and "step 13" are one.
std::string StepMarks::Normal(const std::string& name) {
  std::string normal;
  for (const char c : name) {
    if (std::isdigit(static_cast<unsigned char>(c)) == 0) {
      normal += c;
    } else if (normal.empty() || normal.back() != '#') {
      normal += '#';
    }
  }
  return normal;
}

void StepMarks::Add(uint32_t slot, uint32_t kind, uint32_t stack, uint32_t name, const MarkGroup& marks,
                    SlotState* state) {
  const auto found = trace_.definitions().names.find(name);
  const std::string text = found == trace_.definitions().names.end() ? "" : found->second;
  const auto keep = [&](Kept* kept, std::vector<StepMark>* of) {
    kept->group.AddMany(marks.count, marks.first_time, marks.last_time);
    const StepMark mark = {slot, kind, stack, name};
    if (std::find(of->begin(), of->end(), mark) == of->end()) of->push_back(mark);
  };
  if (kind == schema::MARK_RECORD_FUNCTION && (in_optimizer_[stack] || text.rfind(kOptimizerStep, 0) == 0)) {
    // Without Python frames all calls of one optimizer are one place.
    const uint64_t call = in_optimizer_[stack] ? optimizer_call_[stack] : uint64_t{1} << 63 | stack;
    Kept& kept = optimizers_[call];
    keep(&kept, &marks_of_optimizer_[call]);
    kept.idle += !state->worked;
    state->worked = false;
    return;
  }
  if (kind == schema::MARK_RANGE_POP) {
    state->depth -= state->depth > 0;
    return;
  }
  if (kind != schema::MARK_RANGE_PUSH && kind != schema::MARK_INSTANT && kind != schema::MARK_RECORD_FUNCTION) return;
  const RangeName range = {slot, kind, Normal(text)};
  Kept& kept = ranges_[range];
  // A number in the name gives each of them a Name of its own; the group has them all.
  keep(&kept, &marks_of_range_[range]);
  kept.outermost += state->depth == 0;
  state->depth += kind == schema::MARK_RANGE_PUSH;
}

bool StepMarks::PlanByNames(const std::string& name, schema::MarkKind kind, StepPlan* plan) const {
  const RangeName* best = nullptr;
  uint64_t best_count = 0, outermost = 0;
  for (const auto& [range, kept] : ranges_) outermost += range.kind == schema::MARK_RANGE_PUSH ? kept.outermost : 0;
  for (const auto& [range, kept] : ranges_) {
    bool fits;
    if (!name.empty()) {
      fits = range.kind == kind && (range.name == name || range.name == Normal(name));
    } else if (range.kind == schema::MARK_RECORD_FUNCTION) {
      fits = Lower(range.name).rfind(kProfilerStep, 0) == 0;
    } else {
      fits = range.kind == schema::MARK_RANGE_PUSH && (NamesAStep(range.name) || 10 * kept.outermost >= 9 * outermost);
    }
    if (!fits || (name.empty() && kept.group.count < kMinMarks)) continue;
    // Of several the one that holds the others.
    if (best == nullptr || kept.group.count < best_count) {
      best = &range;
      best_count = kept.group.count;
    }
  }
  if (best == nullptr) return false;
  plan->source = "nvtx";
  plan->marks = marks_of_range_.at(*best);
  return true;
}

bool StepMarks::PlanByOptimizer(StepPlan* plan) const {
  std::vector<MarkGroup> groups;
  std::vector<uint64_t> calls;
  for (const auto& [call, kept] : optimizers_) {
    groups.push_back(kept.group);
    calls.push_back(call);
  }
  uint64_t count = 0, idle = 0;
  std::vector<StepMark> marks;
  for (const size_t group : SelectGroups(groups)) {
    const Kept& kept = optimizers_.at(calls[group]);
    count += kept.group.count;
    idle += kept.idle;
    const std::vector<StepMark>& of = marks_of_optimizer_.at(calls[group]);
    marks.insert(marks.end(), of.begin(), of.end());
  }
  if (count < kMinMarks) return false;
  plan->source = "optimizer";
  plan->marks = std::move(marks);
  plan->inside = in_optimizer_;
  // Optimizers that are called in turn, at one place, make one step.
  plan->only_after_work = idle * kIdleShare >= count && idle < count;
  return true;
}

bool StepMarks::PlanByOptimizerAllocations(StepPlan* plan) const {
  if (optimizer_allocations_ < kMinMarks) return false;
  plan->source = "optimizer";
  plan->inside = in_optimizer_;
  plan->at_inside = true;
  return true;
}

}  // namespace vramtrack
