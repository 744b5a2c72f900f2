// SPDX-License-Identifier: Apache-2.0
#include "tests/corpus/flow_player.h"

#include <algorithm>
#include <cmath>

namespace vramtrack::corpus {
namespace {

constexpr uint32_t kFlowScope = 1000;  // of stacks; the job's own scopes are below

bool IsPowerOfTwo(int value) { return value > 0 && (value & (value - 1)) == 0; }

}  // namespace

FlowPlayer::FlowPlayer(const std::vector<Flow>& flows, JobStream* stream, int steps, uint64_t seed)
    : stream_(*stream), steps_(steps), random_(seed) {
  uint32_t scope = kFlowScope;
  const bool any_leak = std::any_of(flows.begin(), flows.end(), [](const Flow& flow) { return flow.leaks; });
  for (const Flow& flow : flows) {
    State state;
    state.flow = &flow;
    if (flow.role == Role::kNone) {
      const uint32_t count = flow.family >= 0 ? 1 : flow.sites;
      for (uint32_t i = 0; i < count; ++i) {
        state.sites.push_back(stream_.AddSite(flow.kind, flow.look, flow.thread, scope));
        // What goes on beside a leak has other verdicts.
        if (any_leak && !flow.leaks) continue;
        const bool empties = flow.own_pool && flow.life == Life::kStep;
        (empties ? watched_segments_ : watched_).push_back(state.sites.back());
      }
      ++scope;
    }
    if (flow.when == When::kNovel) {
      double total = 0;
      for (int key = 0; key < flow.period; ++key) state.key_weights.push_back(total += 1. / (key + 1));
      state.seen.resize(state.key_weights.size());
    }
    if (flow.family >= 0) {
      Random random(seed * 7919 + static_cast<uint64_t>(steps));
      state.family_births.resize(static_cast<size_t>(steps));
      for (const SyntheticObject& object : Families()[static_cast<size_t>(flow.family)].make(random, steps)) {
        if (object.birth_step < steps) state.family_births[static_cast<size_t>(object.birth_step)].push_back(object);
      }
    }
    states_.push_back(std::move(state));
  }
}

void FlowPlayer::Leaked(const Flow& flow, const Object& object, int step) {
  if (!flow.leaks) return;
  // A family has an onset or not; it shows in its first object.
  begins_.try_emplace(object.site, flow.family >= 0 ? step : static_cast<int>(std::lround(flow.from * steps_)));
  StepLeak& leak = leaked_[object.site][step];
  leak.bytes += static_cast<double>(object.bytes);
  ++leak.objects;
}

void FlowPlayer::Grown(const Flow& flow, const Object& object, const Object& replaced, int step) {
  begins_.try_emplace(object.site, static_cast<int>(std::lround(flow.from * steps_)));
  leaked_[object.site][step].bytes += static_cast<double>(object.bytes) - static_cast<double>(replaced.bytes);
}

void FlowPlayer::Die(const Object& object, const Flow& flow, int step) {
  if (flow.deferred == 0) {
    stream_.Free(object, flow.thread);
    return;
  }
  stream_.FreeDeferred(object, flow.thread);
  recycled_[step + Between(1, flow.deferred)].push_back(object);
}

bool FlowPlayer::Occurs(State* state, int step) {
  const Flow& flow = *state->flow;
  if (step < std::lround(flow.from * steps_) || step >= std::lround(flow.until * steps_)) return false;
  switch (flow.when) {
    case When::kEvery:
      return (step + 1) % flow.period == 0;
    case When::kChance:
      return Uniform() < flow.probability;
    case When::kOnce:
      return step == flow.period;
    case When::kRecord:
      return record_;
    case When::kDoubling:
      return step >= 4 && IsPowerOfTwo(step);
    case When::kNovel: {
      const double draw = Uniform(0, state->key_weights.back());
      const auto key = std::upper_bound(state->key_weights.begin(), state->key_weights.end(), draw);
      const auto index = static_cast<size_t>(key - state->key_weights.begin());
      const bool seen = state->seen[index];
      state->seen[index] = true;
      return !seen;
    }
  }
  return false;
}

// What becomes of an object that has just been born, or that the job would free now.
void FlowPlayer::Keep(State* state, const Object& object, int step) {
  const Flow& flow = *state->flow;
  const bool stays = flow.kept > 0 && Uniform() < flow.kept;
  if (flow.life == Life::kForever || stays) {
    Leaked(flow, object, step);
    return;
  }
  int death = step;
  switch (flow.life) {
    case Life::kPhase:
      death = (step / flow.span + 1) * flow.span;
      break;
    case Life::kCollector:
      while (state->next_collection <= step) {
        state->next_collection += Between(std::max(1, flow.span / 2), flow.span + flow.span / 2);
      }
      death = state->next_collection;
      break;
    case Life::kQueue:
      death = step + Between(std::max(1, flow.span / 2), flow.span + flow.span / 2);
      break;
    case Life::kCapacity:
    case Life::kReplaced: {
      std::deque<Object>& held = state->held[object.site];
      if (flow.leaks && !held.empty()) Grown(flow, object, held.back(), step);
      held.push_back(object);
      if (held.size() > (flow.life == Life::kReplaced ? 1 : static_cast<size_t>(flow.span))) {
        Die(held.front(), flow, step);
        held.pop_front();
      }
      return;
    }
    default:
      break;
  }
  deaths_[death].emplace_back(object, &flow);
}

void FlowPlayer::Bear(State* state, int step) {
  const Flow& flow = *state->flow;
  const double factor = 1 + flow.growth * state->occurrences++;
  const uint32_t pool = flow.own_pool ? ++pools_ : 0;
  for (int count = Between(flow.low_count, flow.high_count); count > 0; --count) {
    for (const uint32_t site : state->sites) {
      const double bytes = Uniform(static_cast<double>(flow.low_bytes), static_cast<double>(flow.high_bytes)) * factor;
      Keep(state, stream_.Allocate(site, static_cast<uint64_t>(bytes), pool), step);
    }
  }
}

void FlowPlayer::Reach(Place place, int step) {
  for (State& state : states_) {
    const Flow& flow = *state.flow;
    if (flow.role != Role::kNone || flow.place != place) continue;
    if (flow.family < 0) {
      if (Occurs(&state, step)) Bear(&state, step);
      continue;
    }
    for (const SyntheticObject& synthetic : state.family_births[static_cast<size_t>(step)]) {
      const Object object = stream_.Allocate(state.sites[0], static_cast<uint64_t>(synthetic.bytes));
      if (synthetic.death_step == SyntheticObject::kForever) {
        Leaked(flow, object, step);
      } else {
        deaths_[synthetic.death_step].emplace_back(object, &flow);
      }
    }
  }
  if (place != Place::kEnd) return;
  record_ = false;
  for (const auto& [object, flow] : deaths_[step]) Die(object, *flow, step);
  deaths_.erase(step);
  for (const Object& object : recycled_[step]) stream_.Recycle(object);
  recycled_.erase(step);
}

bool FlowPlayer::Takes(const Object& object, Role role, int step) {
  for (State& state : states_) {
    const Flow& flow = *state.flow;
    if (flow.only_site >= 0 ? object.site != static_cast<uint32_t>(flow.only_site) : flow.role != role) continue;
    if (flow.role == Role::kNone || step < std::lround(flow.from * steps_)) continue;
    // One object in `period`, or those of steps that chance picks.
    if (flow.when == When::kChance) {
      state.seen.resize(static_cast<size_t>(steps_));
      state.key_weights.resize(static_cast<size_t>(steps_), -1);
      double& draw = state.key_weights[static_cast<size_t>(step)];
      if (draw < 0) draw = Uniform();
      if (draw >= flow.probability) continue;
    } else if (++state.freed[object.site] % static_cast<uint64_t>(flow.period) != 0) {
      continue;
    }
    Keep(&state, object, step);
    return true;
  }
  return false;
}

}  // namespace vramtrack::corpus
