// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_PIPELINE_TESTING_RUNNING_TRACE_H_
#define ANALYZER_PIPELINE_TESTING_RUNNING_TRACE_H_

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cstdint>
#include <fstream>
#include <string>

#include "analyzer/base/testing/test_folder.h"
#include "proto/testing/job_builder.h"

namespace vramtrack {

// The trace of a process that runs, which this one pretends to be.
class RunningTrace {
 public:
  RunningTrace() : path_(folder_.WriteAs("job.vtrace", std::string(4096, '\0'))) {
    const int file = open(path_.c_str(), O_RDWR | O_CLOEXEC);
    map_ = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    utsname here;
    uname(&here);
    job.trace().DefineProcess(0, static_cast<uint32_t>(getpid()), {"./job"}, -1, {}, here.nodename);
    job.Device(uint64_t{80} << 30);
  }
  ~RunningTrace() { munmap(map_, 4096); }

  const std::string& path() const { return path_; }
  // Writes what the job has done so far: blocks, and journals of what is in none yet.
  void Write() { std::ofstream(path_, std::ios::binary | std::ios::in) << job.Kill(); }
  void Finish() { std::ofstream(path_, std::ios::binary) << job.Finish(); }

  JobBuilder job = JobBuilder({}, 1000);

 private:
  TestFolder folder_;
  const std::string path_;
  void* map_;
};

}  // namespace vramtrack

#endif  // ANALYZER_PIPELINE_TESTING_RUNNING_TRACE_H_
