// SPDX-License-Identifier: Apache-2.0
#include "analyzer/ingest/process_state.h"

#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <fstream>
#include <sstream>

#include "absl/strings/str_cat.h"

namespace vramtrack {

ProcessState StateOf(const TracedProcess& process, const std::string& path) {
  utsname here;
  if (process.pid == 0 || uname(&here) != 0 || process.host != here.nodename) return ProcessState::kUnknown;
  if (kill(static_cast<pid_t>(process.pid), 0) != 0 && errno == ESRCH) return ProcessState::kEnded;
  // The number may be another process's by now, or the process may run another program: what counts is who has the file
  // mapped. Its device is not compared, as some file systems tell two of them.
  struct stat file;
  std::ifstream maps(absl::StrCat("/proc/", process.pid, "/maps"));
  if (!maps || stat(path.c_str(), &file) != 0) return ProcessState::kUnknown;
  bool any = false;
  for (std::string line; std::getline(maps, line);) {
    any = true;
    std::istringstream fields(line);
    std::string range, permissions, offset, device;
    uint64_t inode = 0;
    if (fields >> range >> permissions >> offset >> device >> inode && inode == file.st_ino &&
        permissions.size() == 4 && permissions[1] == 'w' && permissions[3] == 's') {
      return ProcessState::kRunning;
    }
  }
  return any ? ProcessState::kEnded : ProcessState::kUnknown;
}

}  // namespace vramtrack
