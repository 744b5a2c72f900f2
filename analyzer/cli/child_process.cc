// SPDX-License-Identifier: Apache-2.0
#include "analyzer/cli/child_process.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "analyzer/cli/output.h"

namespace vramtrack {
namespace {

constexpr int kForwarded[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP};
constexpr int kForwardedCount = sizeof(kForwarded) / sizeof(kForwarded[0]);

volatile sig_atomic_t child_pid = 0;

void Forward(int signal, siginfo_t* info, void*) {
  // The kernel's own come from the terminal, and go to all of its foreground group.
  if (info->si_code == SI_KERNEL || child_pid <= 0) return;
  int saved = errno;
  kill(child_pid, signal);
  errno = saved;
}

// In the child: starts the command, or tells the parent through `report` why not.
[[noreturn]] void StartCommand(const std::vector<std::string>& command,
                               const std::vector<std::pair<std::string, std::string>>& environment, int report) {
  std::vector<char*> arguments;
  for (const std::string& argument : command) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  for (const auto& [name, value] : environment) setenv(name.c_str(), value.c_str(), 1);
  execvp(arguments[0], arguments.data());
  int error = errno;
  [[maybe_unused]] ssize_t written = write(report, &error, sizeof error);
  _exit(error == ENOENT ? kExitNotFound : kExitCannotExecute);
}

}  // namespace

ChildResult RunChild(const std::vector<std::string>& command,
                     const std::vector<std::pair<std::string, std::string>>& environment) {
  ChildResult result;
  int pipes[2];
  if (pipe2(pipes, O_CLOEXEC) != 0) {
    result.start_error = errno;
    return result;
  }

  // None of them may come between the fork and the moment when the child's number is known.
  sigset_t forwarded, before;
  sigemptyset(&forwarded);
  for (int signal : kForwarded) sigaddset(&forwarded, signal);
  sigprocmask(SIG_BLOCK, &forwarded, &before);

  pid_t pid = fork();
  if (pid < 0) {
    result.start_error = errno;
    sigprocmask(SIG_SETMASK, &before, nullptr);
    close(pipes[0]);
    close(pipes[1]);
    return result;
  }
  if (pid == 0) {
    sigprocmask(SIG_SETMASK, &before, nullptr);
    StartCommand(command, environment, pipes[1]);
  }

  struct sigaction old_actions[kForwardedCount];
  child_pid = pid;
  for (int i = 0; i < kForwardedCount; ++i) {
    sigaction(kForwarded[i], nullptr, &old_actions[i]);
    if (old_actions[i].sa_handler == SIG_IGN) continue;  // as nohup left it
    struct sigaction action = {};
    action.sa_sigaction = Forward;
    action.sa_flags = SA_SIGINFO | SA_RESTART;
    sigaction(kForwarded[i], &action, nullptr);
  }
  sigprocmask(SIG_SETMASK, &before, nullptr);

  close(pipes[1]);
  ssize_t bytes;
  do {
    bytes = read(pipes[0], &result.start_error, sizeof result.start_error);
  } while (bytes < 0 && errno == EINTR);
  if (bytes != sizeof result.start_error) result.start_error = 0;
  close(pipes[0]);

  while (waitpid(pid, &result.wait_status, 0) < 0 && errno == EINTR) {
  }
  child_pid = 0;
  for (int i = 0; i < kForwardedCount; ++i) sigaction(kForwarded[i], &old_actions[i], nullptr);
  return result;
}

void EndLike(int wait_status) {
  if (!WIFSIGNALED(wait_status)) _exit(WEXITSTATUS(wait_status));
  int signal = WTERMSIG(wait_status);
  // The command's memory image, if it left one, is the one that somebody wants to see.
  rlimit none = {0, 0};
  setrlimit(RLIMIT_CORE, &none);
  struct sigaction action = {};
  action.sa_handler = SIG_DFL;
  sigaction(signal, &action, nullptr);
  sigset_t only;
  sigemptyset(&only);
  sigaddset(&only, signal);
  sigprocmask(SIG_UNBLOCK, &only, nullptr);
  raise(signal);
  _exit(128 + signal);
}

}  // namespace vramtrack
