// SPDX-License-Identifier: Apache-2.0
//
// usage: looks_cupti_up first|later|asked_first ROUNDS
// As profiles_itself, by functions that it looks up with dlsym when it starts to profile; "asked_first": it looks them
// up before its first call of CUDA and starts later.
#include <dlfcn.h>
#include <string.h>

#include "tests/cupti/programs/other_profiler.h"

namespace {

template <typename Function>
void Find(void* library, const char* name, Function* function) {
  *function = reinterpret_cast<Function>(dlsym(library, name));
  if (*function == nullptr) exit(2);
}

other_profiler::Functions FindAll() {
  void* library = dlopen("libcupti.so.13", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) exit(2);
  other_profiler::Functions functions;
  Find(library, "cuptiActivityRegisterCallbacks", &functions.register_callbacks);
  Find(library, "cuptiActivityEnable", &functions.enable);
  Find(library, "cuptiActivityFlushAll", &functions.flush);
  Find(library, "cuptiActivityGetNextRecord", &functions.next);
  return functions;
}

}  // namespace

int main(int, char** words) {
  const int rounds = atoi(words[2]);
  const bool first = strcmp(words[1], "first") == 0;
  const bool asked_first = strcmp(words[1], "asked_first") == 0;
  other_profiler::Functions functions = {};
  if (first || asked_first) functions = FindAll();
  if (first && !other_profiler::Start(functions)) return 1;
  Rounds(rounds / 2);
  if (!first && !asked_first) functions = FindAll();
  if (!first && !other_profiler::Start(functions)) return 1;
  Rounds(rounds / 2);
  other_profiler::Stop();
  return 0;
}
