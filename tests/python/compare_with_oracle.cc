// SPDX-License-Identifier: Apache-2.0
//
// usage: compare_with_oracle TRACE EXPECTED [MAX_FRAMES]. For traces that were made elsewhere; exit code 1 where they
// differ from what the interpreter said.
#include <cstdio>
#include <cstdlib>

#include "tests/python/python_trace.h"

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  size_t stacks = 0, frames = 0;
  const vramtrack::PythonTrace trace = vramtrack::ReadPythonTrace(argv[1]);
  const auto differences =
      vramtrack::CompareWithOracle(trace, argv[2], argc > 3 ? strtoul(argv[3], nullptr, 10) : 128, &stacks, &frames);
  for (const std::string& unseen : trace.unseen) printf("unseen: %s\n", unseen.c_str());
  for (const std::string& difference : differences) printf("%s\n", difference.c_str());
  printf("%zu stacks, %zu frames, %zu code objects, %zu differences\n", stacks, frames, trace.codes.size(),
         differences.size());
  return differences.empty() ? 0 : 1;
}
