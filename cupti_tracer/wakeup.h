// SPDX-License-Identifier: Apache-2.0
#ifndef CUPTI_TRACER_WAKEUP_H_
#define CUPTI_TRACER_WAKEUP_H_

#include <semaphore.h>

namespace vramtrack::cupti {

// What a thread waits for until another one posts it. Never destroyed. Thread-safe.
class Wakeup {
 public:
  bool Init() { return sem_init(&posted_, 0, 0) == 0; }
  // Also from a signal handler. Each ends one wait.
  void Post() { sem_post(&posted_); }
  // False: nobody has posted for so long.
  bool Wait(int ms);
  // Forgets what was posted.
  void Clear();

 private:
  sem_t posted_;
};

}  // namespace vramtrack::cupti

#endif  // CUPTI_TRACER_WAKEUP_H_
