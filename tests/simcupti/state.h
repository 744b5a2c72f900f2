// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_SIMCUPTI_STATE_H_
#define TESTS_SIMCUPTI_STATE_H_

#include <cupti.h>

#include <atomic>
#include <cstdint>
#include <cstring>
#include <mutex>

namespace vramtrack::simcupti {

constexpr size_t kKinds = 64;

// What the public calls set and the making of records asks for; all under `mutex`.
struct State {
  std::recursive_mutex mutex;
  CUpti_BuffersCallbackRequestFunc request = nullptr;
  CUpti_BuffersCallbackCompleteFunc complete = nullptr;
  uint8_t* buffer = nullptr;
  size_t size = 0, used = 0;
  bool enabled[kKinds] = {};
  bool source = false;
  size_t dropped = 0;
  uint64_t made = 0;
  uint32_t correlation = 0;
  CUpti_TimestampCallbackFunc timestamp = nullptr;  // a tool's own clock
};

// Lives during a call of the public interface. It says so on stderr when CUPTI is detached during a call of another
// thread, or used afterwards without having been asked for anything again: the real one may crash then.
class PublicCall {
 public:
  explicit PublicCall(const char* name, bool begins_anew = false);
  ~PublicCall();
  static void Detached();  // by the call that is going on

 private:
  static std::atomic<int> calls_;
  static std::atomic<bool> detached_;
};

// Never destroyed: the driver calls while the process ends.
State& GetState();

// In ns, as the simulated device's clock, or as a tool's own.
uint64_t Now();

// Gives the buffer that is being filled to the tool. With the lock held, which is recursive: a tool may ask for dropped
// records from its callback.
void Deliver(State* state);

// Room for a record of `bytes`, with the lock held and all zero; null where it is not asked for or dropped.
void* NewRecord(State* state, CUpti_ActivityKind kind, size_t bytes);

template <typename Record>
Record* NewRecord(State* state, CUpti_ActivityKind kind) {
  auto* record = static_cast<Record*>(NewRecord(state, kind, sizeof(Record)));
  if (record != nullptr) record->kind = kind;
  return record;
}

}  // namespace vramtrack::simcupti

#endif  // TESTS_SIMCUPTI_STATE_H_
