// SPDX-License-Identifier: Apache-2.0
#ifndef INTERPOSE_BASE_PATIENCE_H_
#define INTERPOSE_BASE_PATIENCE_H_

#include <cstdint>

namespace vramtrack {

// The calling thread's number as the kernel has it, 0 before NoteCurrentThread. A sandbox may forbid to ask each time.
extern __thread uint32_t current_thread __attribute__((tls_model("initial-exec")));

// To be called by a thread before it takes locks; again in a forked child.
void NoteCurrentThread();

// How long a thread waits for another one's turn to end: for as long as that one gets on. A loaded machine is no reason
// to give up, however slow it is: the more threads want a processor, the rarer are the looks. A thread is one that is
// gone, that sleeps (a signal handler stops it until we are done), or that has left by longjmp and computes something
// else. For one waiting thread; not thread-safe.
class Patience {
 public:
  // How long to sleep between two looks.
  static constexpr uint32_t kLookEveryNs = 50000000;

  // To be asked again and again, kLookEveryNs apart: whether to wait on for `thread` (its number, 0 for not known)
  // whose turn is `turn`. False at once for the calling thread itself, and for one that has ended.
  bool Lasts(uint32_t thread, uint32_t turn);

 private:
  // At a thread that uses no processor time: ten seconds, more where the waiting thread itself hardly gets on.
  static constexpr uint32_t kMostLooks = 200;
  // Of the processor: no turn takes that much.
  static constexpr uint64_t kMostCpuNs = 10000000000;

  uint32_t thread_ = 0, turn_ = 0, asleep_ = 0;
  bool watching_ = false;
  uint64_t first_cpu_ns_ = 0, last_cpu_ns_ = 0;
};

}  // namespace vramtrack

#endif  // INTERPOSE_BASE_PATIENCE_H_
