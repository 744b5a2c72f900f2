// SPDX-License-Identifier: Apache-2.0
//
// usage: blocked_call CALL. One thread, which waits in one system call nearly all the time. None may end early or with
// an error.
#include <poll.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/ipc.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>

#include <cerrno>
#include <functional>
#include <map>
#include <string>

#include "tests/attach/programs/joined.h"

namespace {

constexpr long kMs = 150;
constexpr timespec kWait = {0, kMs * 1000000};

double Now() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

timespec InAWhile() {
  timespec end;
  clock_gettime(CLOCK_REALTIME, &end);
  end.tv_nsec += kWait.tv_nsec;
  if (end.tv_nsec >= 1000000000) {
    end.tv_nsec -= 1000000000;
    ++end.tv_sec;
  }
  return end;
}

// Each returns 0, or the errno with which the call failed other than by the end of its time.
const std::map<std::string, std::function<int()>> kCalls = {
    {"nanosleep", [] { return nanosleep(&kWait, nullptr) == 0 ? 0 : errno; }},
    {"poll", [] { return poll(nullptr, 0, kMs) == 0 ? 0 : errno; }},
    {"select",
     [] {
       timeval wait = {0, kMs * 1000};
       return select(0, nullptr, nullptr, nullptr, &wait) == 0 ? 0 : errno;
     }},
    {"epoll_wait",
     [] {
       static const int fd = epoll_create1(0);
       epoll_event event;
       return epoll_wait(fd, &event, 1, kMs) == 0 ? 0 : errno;
     }},
    {"sigtimedwait",
     [] {
       sigset_t set;
       sigemptyset(&set);
       sigaddset(&set, SIGUSR1);
       return sigtimedwait(&set, nullptr, &kWait) == -1 && errno == EAGAIN ? 0 : errno;
     }},
    {"sem_timedwait",
     [] {
       static sem_t semaphore = {};
       const timespec end = InAWhile();
       return sem_timedwait(&semaphore, &end) == -1 && errno == ETIMEDOUT ? 0 : errno;
     }},
    {"recv",
     [] {
       static int pair[2] = {-1, -1};
       if (pair[0] < 0) {
         socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
         timeval wait = {0, kMs * 1000};
         setsockopt(pair[0], SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof wait);
       }
       char byte;
       return recv(pair[0], &byte, 1, 0) == -1 && errno == EAGAIN ? 0 : errno;
     }},
    {"waitpid",
     [] {
       const pid_t child = fork();
       if (child == 0) {
         nanosleep(&kWait, nullptr);
         _exit(0);
       }
       return waitpid(child, nullptr, 0) == child ? 0 : errno;
     }},
};

}  // namespace

int main(int, char** arguments) {
  const std::string name = arguments[1];
  Ready();
  if (name == "read") {  // for as long as it takes
    char byte;
    const ssize_t bytes = read(STDIN_FILENO, &byte, 1);
    Check(bytes == 0, "read", errno);
    return Fine();
  }
  const std::function<int()>& call = kCalls.at(name);
  while (!Ended()) {
    const double start = Now();
    const int error = call();
    Check(error == 0, "the call failed", error);
    Check(Now() - start >= 0.9 * kMs / 1000, "the call ended early");
  }
  return Fine();
}
