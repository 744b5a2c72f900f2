// SPDX-License-Identifier: Apache-2.0
//
// Prevents fork at moments when it would break the child. A child inherits the locks of threads that it does not have.
// The C library resets its own locks, but not the lock of the loader's list of objects, which dl_iterate_phdr takes: a
// child that was forked while that lock was held hangs at its first dlopen, throw or dl_iterate_phdr. Without this
// gate, a tracer that walks the list now and then would cause this in programs that were never affected before. Code
// that takes such a lock therefore runs inside the gate, and fork waits until no thread is inside.
//
// No wait is for ever: after ten seconds a waiting thread continues anyway.
#ifndef INTERPOSE_RECORDER_FORK_GATE_H_
#define INTERPOSE_RECORDER_FORK_GATE_H_

namespace vramtrack {

class ForkGate {
 public:
  // Registers handlers with pthread_atfork. Call it once, before the first fork.
  static void Install();

  // Enter and Leave enclose code during which no fork may happen. They can be nested. Thread-safe; use them on rare
  // paths only, because all threads write one counter.
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
