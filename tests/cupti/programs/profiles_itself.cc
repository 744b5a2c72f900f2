// SPDX-License-Identifier: Apache-2.0
//
// usage: profiles_itself first|later|subscribed ROUNDS [table|own]
// Profiles itself with CUPTI, from before its first call of CUDA or from half of its rounds on. "subscribed":
// subscribes to CUPTI before its first call of CUDA, and profiles nothing. "table": it finds CUPTI's functions in a
// table in its data; "own": it has put a function of its own into that, which prints a line.
#include <string.h>

#include "tests/cupti/programs/other_profiler.h"

// Not static: else the compiler would know its words.
other_profiler::Functions table = {cuptiActivityRegisterCallbacks, cuptiActivityEnable, cuptiActivityFlushAll,
                                   cuptiActivityGetNextRecord};

int OwnEnable(uint32_t kind) {
  puts("own");
  return cuptiActivityEnable(kind);
}

int main(int count, char** words) {
  const int rounds = atoi(words[2]);
  const other_profiler::Functions in_code = {cuptiActivityRegisterCallbacks, cuptiActivityEnable, cuptiActivityFlushAll,
                                             cuptiActivityGetNextRecord};
  const char* const how = count > 3 ? words[3] : "";
  const other_profiler::Functions& functions = *how == '\0' ? in_code : table;
  if (strcmp(how, "own") == 0) table.enable = OwnEnable;
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
