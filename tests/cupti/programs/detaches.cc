// SPDX-License-Identifier: Apache-2.0
//
// usage: detaches MICROSECONDS THREADS ROUNDS
// So long after its threads have begun to allocate, CUPTI is detached from the process.
#include <unistd.h>

#include <thread>
#include <vector>

#include "tests/cupti/programs/rounds.h"

int main(int, char** words) {
  Rounds(1);
  std::vector<std::thread> threads;
  for (int i = 0; i < atoi(words[2]); ++i) threads.emplace_back([words] { Rounds(atoi(words[3])); });
  usleep(static_cast<useconds_t>(atoi(words[1])));
  printf("%d\n", cuptiFinalize());
  for (std::thread& thread : threads) thread.join();
  puts("done");
  return 0;
}
