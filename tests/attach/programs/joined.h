// SPDX-License-Identifier: Apache-2.0
//
// What the programs have in common: they say when they are ready, do their work until their standard input ends, check
// that nothing was disturbed, and say so.
#ifndef TESTS_ATTACH_PROGRAMS_JOINED_H_
#define TESTS_ATTACH_PROGRAMS_JOINED_H_

#include <poll.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

// Where only ancestors may trace a process, any may trace this one.
inline void Ready() {
  prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
  std::printf("ready\n");
  std::fflush(stdout);
}

// Returns whether standard input has ended. Does not wait.
inline bool Ended() {
  pollfd input = {STDIN_FILENO, POLLIN, 0};
  return poll(&input, 1, 0) == 1;
}

[[noreturn]] inline void Wrong(const char* what, long value = 0) {
  std::printf("wrong: %s (%ld)\n", what, value);
  std::fflush(stdout);
  _exit(1);
}

inline void Check(bool fine, const char* what, long value = 0) {
  if (!fine) Wrong(what, value);
}

inline int Fine() {
  std::printf("fine\n");
  return 0;
}

#endif  // TESTS_ATTACH_PROGRAMS_JOINED_H_
