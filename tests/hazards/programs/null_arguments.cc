// SPDX-License-Identifier: Apache-2.0
//
// null_arguments ENTRY...: calls each entry point with zeros for all its arguments, and tells what it answered.
#include <dlfcn.h>

#include <csignal>
#include <cstdint>
#include <cstdio>

namespace {

// What is passed by value and does not fit into registers is here.
struct OnStack {
  uint64_t words[32];
};
using Function = int (*)(uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, OnStack);

}  // namespace

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    auto function = reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, argv[i]));
    std::printf("%s: ", argv[i]);
    std::fflush(stdout);
    // A hook whose function no library has says what the runtime says when it cannot start.
    constexpr int kInitializationError = 3;
    const int answer = function == nullptr ? kInitializationError : function(0, 0, 0, 0, 0, 0, OnStack{});
    std::printf("%d\n", answer);
  }
  return 0;
}
