// SPDX-License-Identifier: Apache-2.0
//
// usage: profiles_itself first|later|subscribed ROUNDS
// Profiles itself with CUPTI, from before its first call of CUDA or from half of its rounds on. "subscribed":
// subscribes to CUPTI before its first call of CUDA, and profiles nothing.
#include <string.h>

#include "tests/cupti/programs/other_profiler.h"

int main(int, char** words) {
  const int rounds = atoi(words[2]);
  const other_profiler::Functions functions = {cuptiActivityRegisterCallbacks, cuptiActivityEnable,
                                               cuptiActivityFlushAll, cuptiActivityGetNextRecord};
  const bool first = strcmp(words[1], "first") == 0;
  void* subscriber = nullptr;
  if (strcmp(words[1], "subscribed") == 0) {
    printf("%d\n", cuptiSubscribe(&subscriber, nullptr, nullptr));
    Rounds(rounds);
    printf("%d\n", cuptiSubscribe(&subscriber, nullptr, nullptr));
    return 0;
  }
  if (first && !other_profiler::Start(functions)) return 1;
  Rounds(rounds / 2);
  if (!first && !other_profiler::Start(functions)) return 1;
  Rounds(rounds / 2);
  other_profiler::Stop();
  return 0;
}
