// SPDX-License-Identifier: Apache-2.0
#include "tests/stacks/shapes.h"

#include <alloca.h>

#include <cstdlib>
#include <cstring>
#include <functional>
#include <stdexcept>

#define NOINLINE __attribute__((noinline))

namespace vramtrack {
namespace {

int AtMost(int depth, int most) { return depth > most ? most : depth; }

// Captures while an exception passes, from a destructor.
struct Guard {
  int depth;
  ~Guard() {
    if (depth > 0 && Random() % 4 == 0) {
      try {
        Next(AtMost(depth - 1, 3));
      } catch (...) {
      }
    }
    sink = sink + 1;
  }
};

NOINLINE void Plain(int depth) {
  Next(depth - 1);
  sink = sink + 1;
}

NOINLINE void Locals(int depth) {
  volatile char bytes[200];
  bytes[depth & 63] = 1;
  Next(depth - 1);
  sink = sink + bytes[0];
}

NOINLINE void Alloca(int depth) {
  auto* bytes = static_cast<char*>(alloca(Random() % 2000 + 1));
  std::memset(bytes, 0x5a, 1);
  Next(depth - 1);
  sink = sink + bytes[0];
}

NOINLINE void VariableLengthArray(int depth) {
  const int n = static_cast<int>(Random() % 500 + 1);
  volatile long values[n];
  values[n - 1] = depth;
  Next(depth - 1);
  sink = sink + values[n - 1];
}

NOINLINE void Realigned(int depth) {
  alignas(64) volatile char bytes[128];
  bytes[0] = 1;
  Next(depth - 1);
  sink = sink + bytes[0];
}

NOINLINE void RealignedAlloca(int depth) {
  alignas(64) volatile char bytes[64];
  auto* more = static_cast<char*>(alloca(Random() % 500 + 1));
  more[0] = 2;
  bytes[0] = 1;
  Next(depth - 1);
  sink = sink + bytes[0] + more[0];
}

NOINLINE void Large(int depth) {
  volatile char bytes[70000];
  bytes[5] = 1;
  Next(AtMost(depth - 1, 2));
  sink = sink + bytes[5];
}

NOINLINE long ManyArguments(long a, long b, long c, long d, long e, long f, long g, long h, int depth) {
  Next(depth - 1);
  return a + b + c + d + e + f + g + h;
}
NOINLINE void Arguments(int depth) { sink = sink + ManyArguments(1, 2, 3, 4, 5, 6, 7, sink, depth); }

NOINLINE void Catches(int depth) {
  try {
    Guard guard{depth - 1};
    Next(depth - 1);
    if (Random() % 3 == 0) throw std::runtime_error("shape");
  } catch (const std::exception&) {
    Next(AtMost(depth - 1, 4));
  }
  sink = sink + 1;
}

NOINLINE void ThrowsFar(int depth) {
  Guard guard{depth / 2};
  Next(depth - 1);
  if (Random() % 8 == 0) throw depth;
  sink = sink + 1;
}

NOINLINE void CatchesFar(int depth) {
  try {
    Next(depth - 1);
  } catch (int) {
    Next(AtMost(depth - 1, 4));
  }
  sink = sink + 1;
}

NOINLINE void Functional(int depth) {
  std::function<void()> call = [depth] {
    Next(depth - 1);
    sink = sink + 1;
  };
  call();
  sink = sink + 1;
}

thread_local int depth_in_compare;

NOINLINE int Compare(const void* a, const void* b) {
  if (depth_in_compare > 0) {
    const int depth = depth_in_compare;
    depth_in_compare = 0;
    Next(depth - 1);
  }
  return *static_cast<const int*>(a) - *static_cast<const int*>(b);
}
NOINLINE void ThroughLibc(int depth) {
  int values[6] = {5, 1, 4, 2, 3, 0};
  depth_in_compare = depth;
  qsort(values, 6, sizeof(int), Compare);
  sink = sink + values[0];
}

NOINLINE double FloatingPoint(double x, int depth) {
  const double y[4] = {x, x * 2, x * 3, x * 5};
  Next(depth - 1);
  return y[0] + y[1] + y[2] + y[3];
}
NOINLINE void Doubles(int depth) { sink = sink + static_cast<long>(FloatingPoint(depth, depth)); }

}  // namespace

extern const Shape SHAPES[] = {Plain,       Locals,    Alloca,  VariableLengthArray, Realigned,  RealignedAlloca,
                               Large,       Arguments, Catches, ThrowsFar,           CatchesFar, Functional,
                               ThroughLibc, Doubles};
#ifdef SHAPE_COUNT
extern const int SHAPE_COUNT = sizeof SHAPES / sizeof SHAPES[0];
#endif

}  // namespace vramtrack
