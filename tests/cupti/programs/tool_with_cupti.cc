// SPDX-License-Identifier: Apache-2.0
//
// A library that CUPTI is linked into, as PyTorch's large wheels had it.
#include "tests/cupti/programs/other_profiler.h"

extern "C" bool StartTool() {
  return other_profiler::Start(
      {cuptiActivityRegisterCallbacks, cuptiActivityEnable, cuptiActivityFlushAll, cuptiActivityGetNextRecord});
}

extern "C" void StopTool() { other_profiler::Stop(); }
