// SPDX-License-Identifier: Apache-2.0
//
// usage: loader_storm LIBRARY. Threads that load and unload a library all the time, and one that throws exceptions, for
// which the loader's list is searched.
#include <dlfcn.h>

#include <atomic>
#include <stdexcept>
#include <thread>
#include <vector>

#include "tests/attach/programs/joined.h"

int main(int, char** arguments) {
  std::atomic<bool> ends{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; ++i) {
    threads.emplace_back([&] {
      while (!ends) {
        void* const library = dlopen(arguments[1], RTLD_NOW);
        Check(library != nullptr, "the library was not loaded");
        auto* const function = reinterpret_cast<int (*)(int)>(dlsym(library, "plus_one"));
        Check(function != nullptr && function(41) == 42, "the library's function is another one");
        Check(dlclose(library) == 0, "the library was not unloaded");
      }
    });
  }
  threads.emplace_back([&ends] {
    long caught = 0, thrown = 0;
    while (!ends) {
      try {
        ++thrown;
        throw std::runtime_error("expected");
      } catch (const std::exception&) {
        ++caught;
      }
    }
    Check(caught == thrown, "an exception was lost", thrown - caught);
  });
  Ready();
  while (!Ended()) usleep(1000);
  ends = true;
  for (std::thread& thread : threads) thread.join();
  return Fine();
}
