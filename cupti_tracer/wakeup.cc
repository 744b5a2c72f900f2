// SPDX-License-Identifier: Apache-2.0
#include "cupti_tracer/wakeup.h"

#include <errno.h>
#include <time.h>

namespace vramtrack::cupti {

bool Wakeup::Wait(int ms) {
  timespec until;
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_nsec += static_cast<long>(ms % 1000) * 1000000;
  until.tv_sec += ms / 1000 + until.tv_nsec / 1000000000;
  until.tv_nsec %= 1000000000;
  while (sem_timedwait(&posted_, &until) != 0) {
    if (errno != EINTR) return false;
  }
  return true;
}

void Wakeup::Clear() {
  while (sem_trywait(&posted_) == 0) {
  }
}

}  // namespace vramtrack::cupti
