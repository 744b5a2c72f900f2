// SPDX-License-Identifier: Apache-2.0
//
// Programs with the set-user-ID bit: their environment is not their own, so nothing is recorded, and nothing is said.
#include <glob.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "tests/hazards/hazard.h"

namespace vramtrack {
namespace {

constexpr uid_t kNobody = 65534;
constexpr int kNotHere = 77;

class PrivilegedTest : public ::testing::Test {
 protected:
  // A file system that another user can reach, with the program, owned by root and with the bit.
  void SetUp() override {
    if (geteuid() != 0) GTEST_SKIP() << "only root can give a program the set-user-ID bit of root";
    char folder[] = "/tmp/vramtrack_privileged.XXXXXX";
    if (mkdtemp(folder) != nullptr) folder_ = folder;
    if (folder_.empty() || unshare(CLONE_NEWNS) != 0 ||
        mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        mount("none", folder, "tmpfs", 0, "mode=755") != 0) {
      GTEST_SKIP() << "file systems cannot be mounted here";
    }
    const std::string simcuda = DataPath(getenv("SIMCUDA"));
    driver_ = Copy(simcuda.substr(0, simcuda.rfind('/')) + "/libcuda.so.1", "libcuda.so.1", 0755);
    runtime_ = Copy(simcuda, "libcudart.so", 0755);
    program_ = Copy(DataPath(getenv("PROGRAMS")) + "/privileged", "privileged", 04755);
    options_.in_child = [] {
      if (setgid(kNobody) != 0 || setuid(kNobody) != 0) _exit(kNotHere);
    };
  }

  void TearDown() override {
    if (folder_.empty()) return;
    umount(folder_.c_str());
    rmdir(folder_.c_str());
  }

  std::string Copy(const std::string& from, const std::string& name, mode_t mode) {
    const std::string to = folder_ + "/" + name;
    std::ofstream(to, std::ios::binary) << std::ifstream(from, std::ios::binary).rdbuf();
    EXPECT_EQ(chmod(to.c_str(), mode), 0);
    return to;
  }

  std::string folder_, driver_, runtime_, program_;
  RunOptions options_;
};

TEST_F(PrivilegedTest, AreNotTraced) {
  const RunResult run = ExpectUnharmed({"", program_, {driver_, runtime_}, {.processes = 0, .finished = 0}, options_});
  if (IsSkipped()) return;
  EXPECT_EQ(run.out, "privileges: some, tracer: not there\n");
}

// The loader lets a library in that lies in a folder of the system and has the bit itself. It takes the place of one
// that nobody needs.
TEST_F(PrivilegedTest, AreNotTracedEvenIfTheLoaderLetsTheLibraryIn) {
  glob_t unused;
  if (glob("/usr/lib/*/libBrokenLocale.so.1", 0, nullptr, &unused) != 0 || unused.gl_pathc == 0) {
    GTEST_SKIP() << "no library of the system that could be replaced";
  }
  const std::string library = Copy(DataPath(getenv("PRELOAD_LIBRARY")), "libvramtrack.so", 04755);
  if (mount(library.c_str(), unused.gl_pathv[0], nullptr, MS_BIND, nullptr) != 0) {
    GTEST_SKIP() << "files cannot be mounted here";
  }
  options_.traced = false;
  options_.preload_before = {"libBrokenLocale.so.1"};
  const RunResult run = RunProgram(program_, {driver_, runtime_}, options_);
  umount(unused.gl_pathv[0]);
  globfree(&unused);
  EXPECT_EQ(run.wait_status, 0);
  EXPECT_EQ(run.out, "privileges: some, tracer: there\n");
  EXPECT_EQ(run.err, "");
  EXPECT_TRUE(run.traces.empty());
}

}  // namespace
}  // namespace vramtrack
