// SPDX-License-Identifier: Apache-2.0
#include "analyzer/cli/worker_process.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>

namespace vramtrack {
namespace {

using Fields = WorkerProcess::Fields;

TEST(WorkerProcess, AnswersAndRemembers) {
  WorkerProcess worker([calls = 0](const Fields& request) mutable {
    Fields answer = request;
    answer.push_back(std::to_string(++calls) + " in " + (getppid() > 1 ? "child" : "?"));
    return answer;
  });
  const std::string large(5 << 20, 'x');
  EXPECT_EQ(*worker.Ask({"", large, std::string("a\0b", 3)}),
            (Fields{"", large, std::string("a\0b", 3), "1 in child"}));
  EXPECT_EQ(*worker.Ask({}), Fields{"2 in child"});
}

TEST(WorkerProcess, SurvivesItsEndAndSaysWhy) {
  WorkerProcess worker([](const Fields& request) -> Fields {
    if (request[0] == "says") {
      std::fprintf(stderr, "vramtrack: x.vtrace: truncated while it was read\n");
      _exit(2);
    }
    if (request[0] == "bus") {
      // A page of a file that ends before it.
      FILE* const file = tmpfile();
      void* const page = mmap(nullptr, 4096, PROT_READ, MAP_SHARED, fileno(file), 0);
      signal(SIGBUS, SIG_DFL);
      return {std::string(1, *static_cast<volatile char*>(page))};
    }
    return {"fine"};
  });
  EXPECT_EQ(*worker.Ask({"x"}), Fields{"fine"});
  EXPECT_EQ(worker.Ask({"says"}).status().message(), "x.vtrace: truncated while it was read");
  EXPECT_EQ(*worker.Ask({"x"}), Fields{"fine"});
  EXPECT_EQ(worker.Ask({"bus"}).status().message(), "the process that reads traces has been killed");
  EXPECT_EQ(*worker.Ask({"x"}), Fields{"fine"});
}

}  // namespace
}  // namespace vramtrack
