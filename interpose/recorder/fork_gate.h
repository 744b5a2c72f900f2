// SPDX-License-Identifier: Apache-2.0
//
// Keeps fork out of where it would do harm. A child inherits the locks of threads that it does not have; the C library
// puts its own in order, but not the one of the loader's list of objects, which dl_iterate_phdr takes: a child that was
// forked at that moment hangs at its first dlopen, throw or dl_iterate_phdr. A tracer that goes through the list now
// and then would do that to programs which never met it before. So whoever takes such a lock does it inside this gate,
// and fork waits until nobody is in it.
//
// Nobody waits for long: who cannot get on within a tenth of a second goes on all the same.
#ifndef INTERPOSE_RECORDER_FORK_GATE_H_
#define INTERPOSE_RECORDER_FORK_GATE_H_

namespace vramtrack {

class ForkGate {
 public:
  // Once, before the first fork. Registers handlers of pthread_atfork.
  static void Install();

  // Around what no fork should happen in; may be nested. Thread-safe; for rare paths, as all threads write one counter.
  static void Enter();
  static void Leave();
};

class ForkGateHolder {
 public:
  ForkGateHolder() { ForkGate::Enter(); }
  ~ForkGateHolder() { ForkGate::Leave(); }
  ForkGateHolder(const ForkGateHolder&) = delete;
  ForkGateHolder& operator=(const ForkGateHolder&) = delete;
};

}  // namespace vramtrack

#endif  // INTERPOSE_RECORDER_FORK_GATE_H_
