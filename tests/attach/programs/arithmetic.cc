// SPDX-License-Identifier: Apache-2.0
//
// One thread that only computes, with values in registers of all kinds.
#include <cstdint>

#include "tests/attach/programs/joined.h"

namespace {

struct Result {
  uint64_t whole = 1;
  double real = 1;
  float vector[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  bool operator==(const Result& other) const {
    bool same = whole == other.whole && real == other.real;
    for (int i = 0; i < 8; ++i) same = same && vector[i] == other.vector[i];
    return same;
  }
};

__attribute__((noinline)) Result Compute() {
  Result result;
  for (int i = 0; i < 3000000; ++i) {
    result.whole = result.whole * 6364136223846793005u + 1442695040888963407u;
    result.real = result.real * 0.999 + 0.5;
    for (float& each : result.vector) each = each * 0.9f + 0.25f;
  }
  return result;
}

}  // namespace

int main() {
  const Result expected = Compute();
  Ready();
  while (!Ended()) Check(Compute() == expected, "another result");
  return Fine();
}
