// SPDX-License-Identifier: Apache-2.0
#include "tests/simcupti/state.h"

#include <stdio.h>
#include <time.h>

#include "tests/simcupti/faults.h"

namespace vramtrack::simcupti {

State& GetState() {
  static State& state = *new State;
  return state;
}

std::atomic<int> PublicCall::calls_{0};
std::atomic<bool> PublicCall::detached_{false};

PublicCall::PublicCall(const char* name, bool begins_anew) {
  ++calls_;
  if (begins_anew) detached_.store(false);
  if (detached_.load()) fprintf(stderr, "simcupti: %s after CUPTI was detached\n", name);
}

PublicCall::~PublicCall() { --calls_; }

void PublicCall::Detached() {
  if (calls_.load() != 1) fprintf(stderr, "simcupti: detached during another call\n");
  detached_.store(true);
}

uint64_t Now() {
  if (GetState().timestamp != nullptr) return GetState().timestamp();
  timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1000000000 + static_cast<uint64_t>(now.tv_nsec);
}

void Deliver(State* state) {
  if (state->buffer == nullptr) return;
  uint8_t* buffer = state->buffer;
  state->buffer = nullptr;
  if (state->complete != nullptr) state->complete(nullptr, 0, buffer, state->size, state->used);
}

void* NewRecord(State* state, CUpti_ActivityKind kind, size_t bytes) {
  if (kind >= kKinds || !state->enabled[kind]) return nullptr;
  const uint64_t every = Faults::Get().drop_every;
  if (every != 0 && ++state->made % every == 0) {
    ++state->dropped;
    return nullptr;
  }
  if (state->buffer != nullptr && state->size - state->used < bytes) Deliver(state);
  if (state->buffer == nullptr) {
    size_t most = 0;
    state->used = state->size = 0;
    if (state->request != nullptr) state->request(&state->buffer, &state->size, &most);
  }
  if (state->buffer == nullptr || state->size < bytes) {
    ++state->dropped;
    return nullptr;
  }
  void* record = state->buffer + state->used;
  state->used += bytes;
  memset(record, 0, bytes);
  return record;
}

}  // namespace vramtrack::simcupti
