// SPDX-License-Identifier: Apache-2.0
//
// Hooks of unloading a library. Its addresses may later belong to another library, so a stack that equals a known one
// may be a different one, and a CUDA function may no longer exist. Loading needs no hook: a new stack through new code
// is compared with the loader's list when it is defined.
#include <dlfcn.h>

#include <atomic>

#include "interpose/hooks/table/lookup.h"
#include "interpose/hooks/table/real_entry.h"
#include "interpose/session/session.h"

extern "C" __attribute__((visibility("default"))) int dlclose(void* handle) {
  using Function = int (*)(void*);
  static std::atomic<Function> next{nullptr};
  Function real = next.load(std::memory_order_relaxed);
  if (real == nullptr) {
    real = reinterpret_cast<Function>(vramtrack::RealDlsym()(RTLD_NEXT, "dlclose"));
    if (real == nullptr) return -1;
    next.store(real, std::memory_order_relaxed);
  }
  vramtrack::Session* session = vramtrack::Session::Running();
  vramtrack::Providers::BeforeUnload();
  if (session != nullptr) session->modules().UnloadBegins();
  const int result = real(handle);
  if (session != nullptr) session->modules().UnloadEnds();
  vramtrack::Providers::AfterUnload();
  vramtrack::LookedUpLibrariesChanged();
  return result;
}
