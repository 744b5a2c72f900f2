// SPDX-License-Identifier: Apache-2.0
//
// One thread uses the heap. Another one sends it signals. Each signal must arrive.
#include <pthread.h>
#include <signal.h>

#include <atomic>
#include <cerrno>
#include <thread>

#include "tests/attach/programs/joined.h"

namespace {

std::atomic<long> arrived{0};
std::atomic<bool> ends{false};

}  // namespace

int main() {
  struct sigaction action = {};
  action.sa_handler = [](int) { arrived.fetch_add(1); };
  action.sa_flags = SA_RESTART;
  sigaction(SIGRTMIN, &action, nullptr);
  const pthread_t receiver = pthread_self();
  sigset_t blocked, before;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGRTMIN);
  pthread_sigmask(SIG_BLOCK, &blocked, &before);
  long sent = 0;
  std::thread sender([&] {
    while (!ends) {
      const int error = pthread_sigqueue(receiver, SIGRTMIN, {});
      Check(error == 0 || error == EAGAIN, "pthread_sigqueue", error);
      if (error == 0) ++sent;
      if (sent % 64 == 0) usleep(100);
    }
  });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  Ready();
  while (!Ended()) {
    for (int i = 0; i < 1000; ++i) {
      volatile char* const block = static_cast<char*>(std::malloc(100 + i));
      block[0] = 1;
      std::free(const_cast<char*>(block));
    }
  }
  ends = true;
  sender.join();
  for (int i = 0; i < 10000 && arrived < sent; ++i) usleep(1000);
  Check(arrived == sent, "signals were lost", sent - arrived);
  sigset_t now;
  pthread_sigmask(SIG_SETMASK, nullptr, &now);
  Check(sigismember(&now, SIGRTMIN) == 0 && sigismember(&now, SIGTERM) == 0, "the signal mask has changed");
  return Fine();
}
