// SPDX-License-Identifier: Apache-2.0
//
// Writes a small finished trace to the file that is named.
#include <cstdio>

#include "proto/testing/random_trace.h"

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  vramtrack::RandomTrace random(1, 500, 2);
  const std::string file = random.trace.Finish();
  FILE* out = std::fopen(argv[1], "wb");
  if (out == nullptr) return 1;
  const bool fine = std::fwrite(file.data(), 1, file.size(), out) == file.size();
  return std::fclose(out) == 0 && fine ? 0 : 1;
}
