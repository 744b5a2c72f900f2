// SPDX-License-Identifier: Apache-2.0
#include "analyzer/cli/holder_request.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "absl/strings/str_cat.h"
#include "analyzer/cli/commands.h"
#include "analyzer/cli/output.h"
#include "proto/frame.h"
#include "proto/testing/trace_builder.h"

namespace vramtrack {
namespace {

using ::testing::HasSubstr;

// A trace as a process has it that still records, which is this one: its first page is mapped.
class RecordingProcess {
 public:
  explicit RecordingProcess(const std::string& name) {
    const std::string folder = testing::TempDir() + "/holders" + std::to_string(getpid());
    std::filesystem::create_directories(folder);
    path_ = folder + "/" + name;
    TraceBuilder trace;
    trace.DefineProcess(0, getpid(), {"python", "train.py"});
    trace.Step(0, 1, 1);
    std::ofstream(path_, std::ios::binary) << trace.Kill();
    const int fd = open(path_.c_str(), O_RDWR | O_CLOEXEC);
    page_ = static_cast<uint8_t*>(mmap(nullptr, kHeaderBytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0));
    close(fd);
    Counter(schema::COUNTER_CONTROL)->fetch_or(schema::CONTROL_ANSWERS);
  }
  ~RecordingProcess() {
    StopAnswering();
    munmap(page_, kHeaderBytes);
    std::filesystem::remove(path_);
  }

  // Answers each request by a walk, from now on.
  void Answer() {
    thread_ = std::thread([this] {
      while (!stop_) {
        const uint64_t requests = Counter(schema::COUNTER_HOLDER_REQUESTS)->load();
        if (requests > answered_) Counter(schema::COUNTER_HOLDER_WALKS)->fetch_add(1);
        answered_ = requests;
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
    });
  }
  void StopAnswering() {
    stop_ = true;
    if (thread_.joinable()) thread_.join();
  }

  std::atomic<uint64_t>* Counter(schema::Counter which) {
    return reinterpret_cast<std::atomic<uint64_t>*>(page_ + kHeaderCountersOffset) + which;
  }
  const std::string& path() const { return path_; }
  std::string folder() const { return path_.substr(0, path_.rfind('/')); }

 private:
  std::string path_;
  uint8_t* page_;
  std::thread thread_;
  std::atomic<bool> stop_{false};
  uint64_t answered_ = 0;
};

std::string ErrorFor(const std::string& target) {
  const auto found = FindTracingProcesses(target);
  return found.ok() ? "" : std::string(found.status().message());
}

int Ask(const std::string& target, uint64_t timeout_s) {
  try {
    return HoldersCommand({target, "--timeout", std::to_string(timeout_s)});
  } catch (const CommandFailure& failure) {
    return BadInput(failure.line);
  }
}

TEST(HolderRequest, FindsTheProcessByItsNumberItsTraceAndItsFolder) {
  RecordingProcess process("vramtrack.host.1.vtrace");
  for (const std::string& target : {std::to_string(getpid()), process.path(), process.folder()}) {
    const auto found = FindTracingProcesses(target);
    ASSERT_TRUE(found.ok()) << found.status();
    ASSERT_EQ(found->size(), 1u);
    EXPECT_EQ((*found)[0].pid, getpid());
    EXPECT_TRUE(std::filesystem::equivalent((*found)[0].trace, process.path()));
  }
}

TEST(HolderRequest, FindsTheProcessesOfALauncher) {
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  const pid_t launcher = fork();
  if (launcher == 0) {
    const pid_t rank = fork();
    if (rank == 0) {
      RecordingProcess process("vramtrack.host.11.vtrace");
      const pid_t pid = getpid();
      _exit(write(ready[1], &pid, sizeof pid) == sizeof pid ? pause() : 1);
    }
    waitpid(rank, nullptr, 0);
    _exit(0);
  }
  pid_t rank = 0;
  ASSERT_EQ(read(ready[0], &rank, sizeof rank), static_cast<ssize_t>(sizeof rank));
  const auto found = FindTracingProcesses(std::to_string(launcher));
  kill(rank, SIGKILL);
  waitpid(launcher, nullptr, 0);
  close(ready[0]);
  close(ready[1]);
  ASSERT_TRUE(found.ok()) << found.status();
  ASSERT_EQ(found->size(), 1u);
  EXPECT_EQ((*found)[0].pid, rank);
}

TEST(HolderRequest, OfWhatRecordsNothing) {
  EXPECT_THAT(ErrorFor(std::to_string(getpid())), HasSubstr("writes no trace"));
  EXPECT_THAT(ErrorFor("99999999"), HasSubstr("process 99999999: no such process"));
  EXPECT_THAT(ErrorFor("99999999999999999999"), HasSubstr("invalid process number"));
  EXPECT_THAT(ErrorFor("/no/such.vtrace"), HasSubstr("/no/such.vtrace: No such file"));
  RecordingProcess process("vramtrack.host.2.vtrace");
  const std::string copy = process.folder() + "/copy.vtrace";
  std::filesystem::copy_file(process.path(), copy);
  EXPECT_THAT(ErrorFor(copy), HasSubstr("copy.vtrace: no process of this machine writes it"));
  std::filesystem::remove(copy);
}

TEST(HolderRequest, OfATraceThatWasDeleted) {
  RecordingProcess process("vramtrack.host.3.vtrace");
  std::filesystem::remove(process.path());
  EXPECT_THAT(ErrorFor(std::to_string(getpid())), HasSubstr("its trace was deleted"));
}

TEST(HolderRequest, IsAnswered) {
  RecordingProcess process("vramtrack.host.4.vtrace");
  process.Counter(schema::COUNTER_HOLDER_WALKS)->store(7);
  process.Answer();
  testing::internal::CaptureStdout();
  EXPECT_EQ(Ask(process.path(), 60), 0);
  const std::string printed = testing::internal::GetCapturedStdout();
  EXPECT_THAT(printed, HasSubstr(absl::StrCat("process ", getpid(), ": walk 8 was written after ")));
  EXPECT_THAT(printed, HasSubstr(absl::StrCat("vramtrack report ", process.path(), "\n")));
  EXPECT_EQ(process.Counter(schema::COUNTER_HOLDER_REQUESTS)->load(), 1u);
  testing::internal::CaptureStdout();
  EXPECT_EQ(Ask(std::to_string(getpid()), 60), 0);
  EXPECT_THAT(testing::internal::GetCapturedStdout(), HasSubstr("walk 9 was written"));
}

TEST(HolderRequest, OfOneOfTwoTraces) {
  RecordingProcess one("vramtrack.host.5.vtrace"), other("vramtrack.host.6.vtrace");
  one.Answer();
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  EXPECT_EQ(Ask(one.path(), 60), 0);
  EXPECT_EQ(Ask(other.path(), 1), 3);
  EXPECT_THAT(testing::internal::GetCapturedStdout(), HasSubstr("walk 1 was written"));
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("no answer within 1 s"));
}

TEST(HolderRequest, IsNotAnswered) {
  RecordingProcess process("vramtrack.host.7.vtrace");
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  EXPECT_EQ(Ask(process.path(), 1), 3);
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("main thread next runs Python code"));
}

TEST(HolderRequest, OfAProcessThatEnds) {
  RecordingProcess process("vramtrack.host.8.vtrace");
  auto request = HolderRequest::Open({getpid(), process.path()});
  ASSERT_TRUE(request.ok()) << request.status();
  request->Send();
  EXPECT_EQ(request->Poll(), HolderRequest::State::kWaiting);
  process.Counter(schema::COUNTER_STOP_REASON)->store(schema::STOP_DISK_FULL);
  EXPECT_EQ(request->Poll(), HolderRequest::State::kStopped);
  EXPECT_THAT(std::string(HolderRequest::Open({getpid(), process.path()}).status().message()),
              HasSubstr("recording has stopped"));
  process.Counter(schema::COUNTER_FINISHED)->store(1);
  EXPECT_EQ(request->Poll(), HolderRequest::State::kStopped);
  EXPECT_THAT(std::string(HolderRequest::Open({getpid(), process.path()}).status().message()),
              HasSubstr("its trace is complete"));
}

TEST(HolderRequest, OfAnotherProcessThatEnds) {
  RecordingProcess process("vramtrack.host.9.vtrace");
  const pid_t child = fork();
  if (child == 0) {
    pause();
    _exit(0);
  }
  auto request = HolderRequest::Open({child, process.path()});
  ASSERT_TRUE(request.ok()) << request.status();
  request->Send();
  EXPECT_EQ(request->Poll(), HolderRequest::State::kWaiting);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  EXPECT_EQ(request->Poll(), HolderRequest::State::kEnded);
}

TEST(HolderRequest, OfAProcessWhosePythonCannotBeWalked) {
  RecordingProcess process("vramtrack.host.12.vtrace");
  auto request = HolderRequest::Open({getpid(), process.path()});
  ASSERT_TRUE(request.ok()) << request.status();
  request->Send();
  EXPECT_EQ(request->Poll(), HolderRequest::State::kWaiting);
  process.Counter(schema::COUNTER_CONTROL)->fetch_and(~uint64_t{schema::CONTROL_ANSWERS});
  EXPECT_EQ(request->Poll(), HolderRequest::State::kRefused);
  testing::internal::CaptureStderr();
  EXPECT_EQ(Ask(process.path(), 60), 2);
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("its Python cannot be walked (vramtrack info "));
}

TEST(HolderRequest, OfFilesThatAreNotTraces) {
  RecordingProcess process("vramtrack.host.10.vtrace");
  const std::string other = process.folder() + "/other";
  std::ofstream(other) << std::string(5000, 'x');
  EXPECT_THAT(std::string(HolderRequest::Open({getpid(), other}).status().message()), HasSubstr("other: not a trace"));
  std::filesystem::remove(other);
  // The version of the format follows the magic.
  std::fstream file(process.path(), std::ios::binary | std::ios::in | std::ios::out);
  file.seekp(kHeaderVersionOffset + 1);
  file.put(99);
  file.close();
  EXPECT_THAT(std::string(HolderRequest::Open({getpid(), process.path()}).status().message()),
              HasSubstr("unknown version"));
}

TEST(HolderRequest, WhyAProcessDoesNotAnswer) {
  using std::string_literals::operator""s;
  EXPECT_EQ(WhyNotAnswered(""), "");
  EXPECT_EQ(WhyNotAnswered("python train.py"), "");
  EXPECT_EQ(WhyNotAnswered("A=1\0VRAMTRACK_HOLDERS=1\0"s), "");
  EXPECT_EQ(WhyNotAnswered("VRAMTRACK_HOLDERS=all,30s\0B=2\0"s), "");
  EXPECT_EQ(WhyNotAnswered("VRAMTRACK_HOLDERS=growth,request"), "");
  for (const std::string& off : {"A=1"s, "VRAMTRACK_HOLDERS=\0A=1"s, "VRAMTRACK_HOLDERS=0"s, "XVRAMTRACK_HOLDERS=1"s}) {
    EXPECT_THAT(WhyNotAnswered(off), HasSubstr("holders are off")) << off;
  }
  EXPECT_THAT(WhyNotAnswered("VRAMTRACK_HOLDERS=growth,oom"), HasSubstr("is 'growth,oom', which does not include"));
}

}  // namespace
}  // namespace vramtrack
